import { isObject } from "../../core/text/json.js";
import type { AudioParams } from "../../hardware/sound.js";

// How binary messages over WebSocket frame audio, by the header `Protocol-Version`: 1 not at all, 2 and 3 with a header.

/** Bytes of a packet of Opus. RFC 6716 allows more only for several frames at more than 500 kbit/s. */
const MAX_PACKET_BYTES = 4_000;

/** Version 2, big-endian: version (16 bits), type (16), reserved (32), timestamp in ms (32), size (32). */
const HEADER_2 = Object.freeze({ bytes: 16, type: 2, timestamp: 8, size: 12 });

/** Version 3, big-endian: type (8 bits), reserved (8), size (16). */
const HEADER_3 = Object.freeze({ bytes: 4, type: 0, size: 2 });

/** The other type, 1, is JSON. */
const OPUS = 0;

/**
 * Reads the packet of a binary message, without a copy. An unknown version is read as 1.
 *
 * The MQTT gateway of the xiaozhi family leaves version and type of its headers 0, and xinnan's server writes other fields
 * there. So the type counts only where the version is 2.
 *
 * @throws RangeError that names the fault
 */
export const readFrame = (frame: ArrayBuffer | Uint8Array, version: number): Uint8Array => {
	const bytes = frame instanceof ArrayBuffer ? new Uint8Array(frame) : frame;
	const packet = version === 2 || version === 3 ? unwrap(bytes, version) : bytes;
	if (packet.byteLength === 0) {
		throw new RangeError("empty");
	}
	if (packet.byteLength > MAX_PACKET_BYTES) {
		throw new RangeError(`${packet.byteLength} bytes (limit ${MAX_PACKET_BYTES})`);
	}
	return packet;
};

/** Reads the timestamp of a binary message, in milliseconds. Only version 2 has one: else 0. */
export const readTimestamp = (frame: ArrayBuffer, version: number): number =>
	version === 2 && frame.byteLength >= HEADER_2.bytes ? new DataView(frame).getUint32(HEADER_2.timestamp) : 0;

const unwrap = (bytes: Uint8Array, version: 2 | 3): Uint8Array => {
	const header = version === 2 ? HEADER_2 : HEADER_3;
	if (bytes.byteLength < header.bytes) {
		throw new RangeError(`${bytes.byteLength} bytes, less than a header of version ${version}`);
	}
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const isTyped = version === 3 || view.getUint16(0) === 2;
	const type = version === 2 ? view.getUint16(HEADER_2.type) : view.getUint8(HEADER_3.type);
	if (isTyped && type !== OPUS) {
		throw new RangeError(`type ${type}, not Opus (${OPUS})`);
	}
	const size = version === 2 ? view.getUint32(HEADER_2.size) : view.getUint16(HEADER_3.size);
	if (size !== bytes.byteLength - header.bytes) {
		throw new RangeError(`${bytes.byteLength - header.bytes} bytes after a header for ${size}`);
	}
	return bytes.subarray(header.bytes);
};

/**
 * Makes the binary message of a packet.
 *
 * @param timestamp milliseconds. Only version 2 sends it, as 32 bits: backends compare it to cancel echoes
 */
export const writeFrame = (packet: Uint8Array, version: number, timestamp: number): Uint8Array => {
	if (version !== 2 && version !== 3) {
		return packet;
	}
	const header = version === 2 ? HEADER_2 : HEADER_3;
	const frame = new Uint8Array(header.bytes + packet.byteLength);
	const view = new DataView(frame.buffer);
	if (version === 2) {
		view.setUint16(0, version);
		view.setUint32(HEADER_2.timestamp, timestamp);
		view.setUint32(HEADER_2.size, packet.byteLength);
	} else {
		view.setUint16(HEADER_3.size, packet.byteLength);
	}
	frame.set(packet, header.bytes);
	return frame;
};

/** Defaults for a hello that does not name them, as in the C++ firmware. */
const DEFAULTS = Object.freeze({ sample_rate: 24_000, channels: 1, frame_duration: 60 });

/** The values that Opus allows: RFC 6716, section 2. */
const RATES = Object.freeze([8_000, 12_000, 16_000, 24_000, 48_000]);
const DURATIONS = Object.freeze([5, 10, 20, 40, 60, 80, 100, 120]);

/**
 * Reads the audio format of a hello: its member `audio_params`. Missing members have the family's defaults.
 *
 * @throws RangeError that names the member
 */
export const readAudioParams = (params: unknown): AudioParams => {
	const given = isObject(params) ? params : {};
	const { format = "opus" } = given;
	if (format !== "opus") {
		throw new RangeError(`audio_params.format: expected opus, got ${JSON.stringify(format)}`);
	}
	return {
		format,
		sample_rate: member(given, "sample_rate", RATES),
		channels: member(given, "channels", [1, 2]),
		frame_duration: member(given, "frame_duration", DURATIONS),
	};
};

const member = (given: Readonly<Record<string, unknown>>, name: keyof typeof DEFAULTS, values: readonly number[]) => {
	const value = given[name] ?? DEFAULTS[name];
	if (!values.includes(value as number)) {
		throw new RangeError(`audio_params.${name}: expected ${values.join(", ")}, got ${JSON.stringify(value)}`);
	}
	return value as number;
};
