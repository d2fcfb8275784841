import { randomUUID } from "node:crypto";
import type { Envelope } from "../../../src/protocols/envelope.js";
import { isObject } from "../../../src/text/is-object.js";

/** What the gateway asks of audio, which it does not play: the device's own defaults. */
const AUDIO_PARAMS = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

/** A device's first message cannot be accepted. */
export class HelloRefused extends Error {}

/**
 * Reads a device's hello and makes the answer, with a new session id.
 *
 * @param transport what the device must name: "websocket" or "mqtt"
 * @throws HelloRefused that says what is wrong
 */
export function answerHello(hello: Envelope, transport: string): { sessionId: string; answer: object } {
	if (hello.type !== "hello") {
		throw new HelloRefused(`expected hello, got ${hello.type}`);
	}
	if (hello.transport !== transport) {
		throw new HelloRefused(`hello: transport: expected "${transport}", got ${JSON.stringify(hello.transport)}`);
	}
	if (!isObject(hello.features) || hello.features.mcp !== true) {
		throw new HelloRefused("hello: features.mcp: expected true");
	}
	const sessionId = randomUUID();
	return { sessionId, answer: { type: "hello", transport, session_id: sessionId, audio_params: AUDIO_PARAMS } };
}
