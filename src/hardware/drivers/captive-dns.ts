import type { UdpRecord } from "../../protocols/udp-socket.js";

const DNS_PORT = 53;

/**
 * Answers every question for a hostname with one address, so that a phone in the device's own network reaches the
 * set-up page at any URL. Not the SDK's server: it ignores queries for IPv6 addresses, so phones wait, and it appends
 * its answer after the EDNS options that most phones send, where they do not find it.
 *
 * @param address IPv4
 * @throws if the port cannot be opened
 */
export const openCaptiveDns = (
	{ io, ...record }: UdpRecord,
	address: string,
	log: (message: string) => void,
): { close(): void } => {
	const receive = (): void => {
		for (let query = socket.read(); query !== undefined; query = socket.read()) {
			try {
				const answer = answerQuery(new Uint8Array(query), address);
				if (answer !== undefined) {
					socket.write(answer, query.address, query.port);
				}
			} catch (error) {
				log(`DNS: could not answer: ${String(error)}`);
			}
		}
	};
	const socket = new io({ ...record, port: DNS_PORT, onReadable: receive });
	return socket;
};

/** Bytes of a message's header, and of a question after the name (RFC 1035 §4.1). */
const HEAD_BYTES = 12;
const TYPE_AND_CLASS = 4;

const TYPE_A = 1;
const CLASS_IN = 1;

/** TTL of the answer in seconds. Short: a phone that joins another network must not keep it. */
const TIME_TO_LIVE = 5;

/**
 * The answer to a DNS query (RFC 1035 §4): the address for a question of type A, and no records for any other. Options
 * of the query (EDNS) are ignored, as by servers without EDNS.
 *
 * @returns undefined if the message is not a query with one question
 */
const answerQuery = (query: Uint8Array, address: string): ArrayBuffer | undefined => {
	const [flags = 0x80, high, low] = [query[2], query[4], query[5]];
	// A hostname ends at its first zero byte, the empty label.
	const end = query.indexOf(0, HEAD_BYTES) + 1 + TYPE_AND_CLASS;
	if ((flags & 0xf8) !== 0 || high !== 0 || low !== 1 || end <= HEAD_BYTES || end > query.length) {
		return undefined;
	}
	const isAddress = [0, TYPE_A, 0, CLASS_IN].every((byte, at) => query[end - TYPE_AND_CLASS + at] === byte);
	const answer = new Uint8Array(end + (isAddress ? 16 : 0));
	answer.set(query.subarray(0, end));
	// An authoritative response; the recursion flag is copied.
	answer.set([0x84 | (flags & 0x01), 0, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0], 2);
	if (isAddress) {
		// The name is a pointer to the question's.
		answer.set([0xc0, HEAD_BYTES, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, TIME_TO_LIVE, 0, 4], end);
		answer.set(address.split(".").map(Number), end + 12);
	}
	return answer.buffer;
};
