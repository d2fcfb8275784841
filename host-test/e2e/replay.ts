import assert from "node:assert/strict";
import type { DeviceStep, Step } from "./recorded-traffic.js";

/** Where a peer's messages go, and ours come from. */
export interface Wire {
	/** @param message bytes become a binary frame */
	say(message: object | Buffer): void;
	/** Our next message, as text. */
	hear(): Promise<string>;
}

/** Messages of ours that may come before the one that is expected. */
const MAX_OTHERS = 5;

/**
 * Says and expects what is in a recording, step by step.
 *
 * @throws AssertionError when something else comes
 */
export async function replay(wire: Wire, steps: readonly (Step | DeviceStep)[]): Promise<void> {
	let sessionId: unknown = "";
	for (const step of steps) {
		if ("sends" in step) {
			wire.say(step.sends);
		} else if ("expects" in step) {
			const { transport, session_id } = await hearOne(wire, step.expects);
			// Devices learn the session id over MQTT only.
			sessionId = transport === "udp" ? session_id : sessionId;
		} else {
			const { payload } = await hearOne(wire, { type: "mcp", payload: step.asked });
			const answer = { jsonrpc: "2.0", id: (payload as { id: unknown }).id, ...step.answers };
			wire.say({ session_id: sessionId, type: "mcp", payload: answer });
		}
	}
}

async function hearOne(wire: Wire, part: object): Promise<Record<string, unknown>> {
	const others: unknown[] = [];
	for (;;) {
		const message = JSON.parse(await wire.hear());
		if (contains(message, part)) {
			return message;
		}
		others.push(message);
		assert.ok(others.length < MAX_OTHERS, `expected ${JSON.stringify(part)}, got ${JSON.stringify(others)}`);
	}
}

/** Whether a value has all the members of a part, at every depth. */
function contains(value: unknown, part: unknown): boolean {
	if (typeof part !== "object" || part === null) {
		return value === part;
	}
	return (
		typeof value === "object" &&
		value !== null &&
		Object.entries(part).every(([name, member]) => contains((value as Record<string, unknown>)[name], member))
	);
}
