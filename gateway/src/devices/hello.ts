import { isObject } from "../../../src/text/is-object.js";
import type { DeviceMessage } from "./messages.js";

/** What the gateway asks of audio, which it does not play: the device's own defaults. */
const AUDIO_PARAMS = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

/** A device's first message cannot be accepted. */
export class HelloRejected extends Error {}

/** What a device says of itself in its hello. */
export interface DeviceHello {
	/** Bytes that a message to the device may have, envelope included. */
	readonly maxMessageBytes: number;
}

/** What a device can take that does not say: as much as this project's firmware with the most memory. */
const DEFAULT_MAX_MESSAGE_BYTES = 65_536;

/** No MCP message of use is smaller. */
const MIN_MAX_MESSAGE_BYTES = 512;

/**
 * Reads a device's hello.
 *
 * @param transport what the device must name: "websocket" or "mqtt"
 * @throws HelloRejected that says what is wrong
 */
export function readHello(hello: DeviceMessage, transport: string): DeviceHello {
	if (hello.type !== "hello") {
		throw new HelloRejected(`expected hello, got ${hello.type.slice(0, 100)}`);
	}
	if (hello.transport !== transport) {
		const got = JSON.stringify(hello.transport)?.slice(0, 100);
		throw new HelloRejected(`hello: transport: expected "${transport}", got ${got}`);
	}
	if (!isObject(hello.features) || hello.features.mcp !== true) {
		throw new HelloRejected("hello: features.mcp: expected true");
	}
	const { max_message_bytes: limit } = hello.features;
	return {
		maxMessageBytes: typeof limit === "number" && limit >= MIN_MAX_MESSAGE_BYTES ? limit : DEFAULT_MAX_MESSAGE_BYTES,
	};
}

/** The gateway's answer to a hello. */
export function helloAnswer(transport: string, sessionId: string): object {
	return { type: "hello", transport, session_id: sessionId, audio_params: AUDIO_PARAMS };
}
