import { isObject } from "../../../src/text/is-object.js";
import type { DeviceMessage } from "./messages.js";

/** What the gateway asks of audio, which it does not play: the device's own defaults. */
const AUDIO_PARAMS = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

/** A device's first message cannot be accepted. */
export class HelloRejected extends Error {}

/**
 * Checks a device's hello.
 *
 * @param transport what the device must name: "websocket" or "mqtt"
 * @throws HelloRejected that says what is wrong
 */
export function checkHello(hello: DeviceMessage, transport: string): void {
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
}

/** The gateway's answer to a hello. */
export function helloAnswer(transport: string, sessionId: string): object {
	return { type: "hello", transport, session_id: sessionId, audio_params: AUDIO_PARAMS };
}
