import type { UdpRecord } from "../../protocols/udp-socket.js";

const DNS_PORT = 53;

/**
 * Answers every question for a hostname with one address, so that a phone in the device's own network reaches the
 * set-up page at any URL. Not the SDK's server: it ignores queries for IPv6 addresses, so that phones wait, and appends
 * its answer after the EDNS options that most phones send, where it is not found.
 *
 * @param address IPv4
 * @throws if the port cannot be opened
 */
export const openCaptiveDns = (
	{ io, ...record }: UdpRecord,
	address: string,
	log: (message: string) => void,
): { close(): void } => {
	const receive = (count: number): void => {
		for (let left = count; left > 0; left -= 1) {
			const query = socket.read();
			const answer = query && answerQuery(query, address);
			if (query === undefined || answer === undefined) {
				continue;
			}
			try {
				socket.write(answer, query.address, query.port);
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

/** The longest question in bytes: a name has at most 255. */
const MAX_QUERY_BYTES = 512;

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
const answerQuery = (query: ArrayBuffer, address: string): ArrayBuffer | undefined => {
	const bytes = new Uint8Array(query);
	const end = bytes.length > MAX_QUERY_BYTES ? 0 : endOfQuestion(bytes);
	if (end === 0) {
		return undefined;
	}
	const view = new DataView(query);
	const isAddress = view.getUint16(end - 4) === TYPE_A && view.getUint16(end - 2) === CLASS_IN;
	const answer = new Uint8Array(end + (isAddress ? 16 : 0));
	answer.set(bytes.subarray(0, end));
	// An authoritative response; the recursion flag is copied.
	answer.set([0x84 | ((bytes[2] ?? 0) & 0x01), 0, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0], 2);
	if (isAddress) {
		// The name is a pointer to the question's.
		answer.set([0xc0, HEAD_BYTES, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, TIME_TO_LIVE, 0, 4], end);
		answer.set(address.split(".").map(Number), end + 12);
	}
	return answer.buffer;
};

/** The end of the only question of a query; 0 if there is not exactly one. */
const endOfQuestion = (bytes: Uint8Array): number => {
	const [flags = 0x80, high = 0, low = 0] = [bytes[2], bytes[4], bytes[5]];
	if (bytes.length < HEAD_BYTES || (flags & 0xf8) !== 0 || high !== 0 || low !== 1) {
		return 0;
	}
	let at = HEAD_BYTES;
	let length = bytes[at];
	while (length !== undefined && length !== 0 && length < 64) {
		at += length + 1;
		length = bytes[at];
	}
	const end = at + 1 + TYPE_AND_CLASS;
	return length === 0 && end <= bytes.length ? end : 0;
};
