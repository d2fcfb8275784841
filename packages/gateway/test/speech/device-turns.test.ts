import assert from "node:assert/strict";
import { it } from "node:test";
import type { Server } from "xs-mcp-manager/core";
import { DeviceTurns } from "../../src/speech/device-turns.js";

it("a call that is cancelled while it waits for a device frees its place at once", async () => {
	const turns = new DeviceTurns();
	const device = {} as Server;
	const { signal } = new AbortController();
	let end = (): void => {};
	const speaking = turns.take(device, signal, () => new Promise<void>((resolve) => (end = resolve)));
	const cancel = new AbortController();
	const waiting = Array.from({ length: 8 }, () => turns.take(device, cancel.signal, async () => {}));
	await assert.rejects(
		turns.take(device, signal, async () => {}),
		/8 calls wait/,
	);
	cancel.abort(new Error("cancelled"));
	const results = await Promise.allSettled(waiting);
	assert.ok(results.every(({ status }) => status === "rejected"));
	const next = turns.take(device, signal, async () => "its turn");
	end();
	await speaking;
	assert.equal(await next, "its turn");
	assert.equal(turns.isBusy(device), false);
});

it("an urgent call goes first, also when as many calls wait as may", async () => {
	const turns = new DeviceTurns();
	const device = {} as Server;
	const { signal } = new AbortController();
	const said: string[] = [];
	const say = (text: string) => async (): Promise<void> => void said.push(text);
	const untilInterrupted = (own: AbortSignal) =>
		new Promise<void>((_, reject) => own.addEventListener("abort", () => reject(own.reason)));
	const speaking = turns.take(device, signal, untilInterrupted);
	const waiting = Array.from({ length: 8 }, () => turns.take(device, signal, say("ordinary")));
	const urgent = turns.take(device, signal, say("urgent"), true);
	await assert.rejects(speaking, /interrupted/);
	await Promise.all([...waiting, urgent]);
	assert.deepEqual([said[0], said.length], ["urgent", 9]);
});
