import { setTimeout } from "node:timers/promises";
import type { AudioLink, Connection } from "xs-mcp-manager/core";
import { SPOKEN_AUDIO } from "../devices/device-connection.js";

const FRAME = SPOKEN_AUDIO.frame_duration;

/**
 * Maximum number of packets queued on a device. More would bridge longer gaps of a bad network, but a device plays its queue to
 * the end: with three, a cancelled announcement is silent within 180 ms.
 */
const LEAD = 3;

/** Milliseconds that `start` has to arrive before packets that may overtake it: the device would drop them. */
const HEAD_START = 200;

/** Milliseconds after the last packet until `stop`: the last one has to be played, and may be late. */
const TAIL = 2 * FRAME;

/** Milliseconds that a device has to say that it does not speak any more. */
const CONFIRMATION_TIME = 3_000;

const MACHINE = {
	now: () => performance.now(),
	/** Rejects once the signal is aborted. */
	wait: (milliseconds: number, signal: AbortSignal): Promise<void> => setTimeout(milliseconds, undefined, { signal }),
};

/**
 * Says a text as the family's servers do: `tts` `start`, `sentence_start`, packets of Opus as fast as they are played, and `stop`.
 *
 * Rejects with an Error if the signal ends it, or the person at the device does.
 *
 * @param text shown on the screen
 * @returns whether the device has said that it has ended: by its state, or because it listens. Some devices of the family say nothing
 */
export async function streamSpeech(
	connection: Connection,
	channel: AudioLink,
	text: string | undefined,
	packets: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	signal: AbortSignal,
	clock = MACHINE,
): Promise<boolean> {
	const interrupted = new AbortController();
	const confirmed = new AbortController();
	const ended = AbortSignal.any([signal, interrupted.signal]);
	const onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "abort") {
			interrupted.abort(new Error("stopped at the device"));
		} else if (type === "listen" && state === "start") {
			confirmed.abort();
		}
	};
	const onNotification = (method: string, { oldState }: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed" && oldState === "speaking") {
			confirmed.abort();
		}
	};
	const onClosed = (reason: string): void => interrupted.abort(new Error(reason));
	connection.events.on("notification", onNotification).on("closed", onClosed);
	channel.on("message", onMessage);
	try {
		connection.send({ type: "tts", state: "start" });
		if (text !== undefined) {
			connection.send({ type: "tts", state: "sentence_start", text });
		}
		if (channel.mayOvertake) {
			await clock.wait(HEAD_START, ended);
		}
		const started = clock.now();
		const waitUntil = async (time: number): Promise<void> => {
			const rest = started + time - clock.now();
			ended.throwIfAborted();
			if (rest > 0) {
				await clock.wait(rest, ended);
			}
		};
		let count = 0;
		for await (const packet of packets) {
			count += 1;
			await waitUntil((count - LEAD) * FRAME);
			channel.send(packet);
		}
		await waitUntil(count * FRAME + TAIL);
		connection.send({ type: "tts", state: "stop" });
		if (!confirmed.signal.aborted) {
			await clock.wait(CONFIRMATION_TIME, AbortSignal.any([ended, confirmed.signal])).catch(() => {});
		}
		ended.throwIfAborted();
		return confirmed.signal.aborted;
	} catch (error) {
		// On a new start, firmware of this project drops its queue; others play it, at most 180 ms.
		connection.send({ type: "tts", state: "start" });
		connection.send({ type: "tts", state: "stop" });
		throw ended.aborted ? ended.reason : error;
	} finally {
		connection.events.off("notification", onNotification).off("closed", onClosed);
		channel.off("message", onMessage);
	}
}

/** Packets on a page: about a second. */
const PER_PAGE = 16;

/** Flags of a page: first or last of its stream. */
const FIRST = 2;
const LAST = 4;

/** Hertz of positions in every stream of Opus: RFC 7845, section 4. */
const POSITION_RATE = 48_000;

/** Samples at that rate by which libopus is late. */
const PRE_SKIP = 312;

/** Bytes of a segment whose packet continues in the next one: RFC 3533, section 5. */
const FULL_SEGMENT = 255;

/** Remainders of CRC-32 with the polynomial of RFC 3533, section 6. Its bits are not reflected, as those of zlib are. */
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
	let remainder = byte << 24;
	for (let bit = 0; bit < 8; bit += 1) {
		remainder = (remainder << 1) ^ (remainder < 0 ? 0x04c1_1db7 : 0);
	}
	return remainder >>> 0;
});

function checksum(bytes: Uint8Array): number {
	let sum = 0;
	for (const byte of bytes) {
		sum = (sum << 8) ^ (CRC[(sum >>> 24) ^ byte] as number);
	}
	return sum >>> 0;
}

/**
 * Makes a file of Ogg Opus with one channel (RFC 3533, RFC 7845).
 *
 * @param packets of the same duration
 * @param rate of the sound before it was encoded, Hertz
 * @param duration of a packet, milliseconds
 */
export function encodeOgg(packets: readonly Uint8Array[], rate: number, duration: number): Buffer {
	const head = Buffer.alloc(19);
	head.write("OpusHead\x01\x01", "latin1");
	head.writeUInt16LE(PRE_SKIP, 10);
	head.writeUInt32LE(rate, 12);
	// A vendor with six characters, and no comments.
	const tags = Buffer.from("OpusTags\x06\0\0\0xs-mcp\0\0\0\0", "latin1");
	const pages = [page([head], FIRST, 0, 0), page([tags], 0, 0, 1)];
	const samples = (POSITION_RATE * duration) / 1_000;
	for (let at = 0; at < packets.length; at += PER_PAGE) {
		const own = packets.slice(at, at + PER_PAGE);
		const end = at + own.length;
		pages.push(page(own, end === packets.length ? LAST : 0, end * samples, pages.length));
	}
	return Buffer.concat(pages);
}

function page(packets: readonly Uint8Array[], flags: number, position: number, number: number): Buffer {
	const segments = packets.flatMap(({ length }) => [
		...new Array<number>(Math.floor(length / FULL_SEGMENT)).fill(FULL_SEGMENT),
		length % FULL_SEGMENT,
	]);
	const header = Buffer.alloc(27);
	header.write("OggS");
	header[5] = flags;
	header.writeUInt32LE(position, 6);
	header.writeUInt32LE(1, 14);
	header.writeUInt32LE(number, 18);
	header[26] = segments.length;
	const bytes = Buffer.concat([header, Uint8Array.from(segments), ...packets]);
	bytes.writeUInt32LE(checksum(bytes), 22);
	return bytes;
}
