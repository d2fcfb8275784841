import assert from "node:assert/strict";
import type { Step } from "./recorded-traffic.js";

export interface Wire {
	/** @param message bytes become a binary frame */
	say(message: object | Buffer): void;
	hear(): Promise<string>;
}

const MAX_OTHERS = 5;

/** Says and expects what is in a recording, step by step. */
export async function replay(wire: Wire, steps: readonly Step[]): Promise<void> {
	for (const step of steps) {
		if ("sends" in step) {
			wire.say(step.sends);
		} else {
			await hearOne(wire, step.expects);
		}
	}
}

async function hearOne(wire: Wire, part: object): Promise<void> {
	const others: unknown[] = [];
	for (;;) {
		const message = JSON.parse(await wire.hear());
		if (contains(message, part)) {
			return;
		}
		others.push(message);
		assert.ok(others.length < MAX_OTHERS, `expected ${JSON.stringify(part)}, got ${JSON.stringify(others)}`);
	}
}

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
