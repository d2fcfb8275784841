import assert from "node:assert/strict";
import { it } from "node:test";
import type { Server } from "xs-mcp-manager/core";
import { DeviceTurns } from "../src/speech/device-tools.js";

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
