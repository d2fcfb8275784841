import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { connectClient } from "../../gateway/test/support/gateway.js";
import { startProgram } from "../../gateway/test/support/program.js";
import { VOICE } from "../../gateway/test/support/voice.js";
import { cases } from "../support/scope.js";
import { follow } from "../support/sounds.js";
import { ENGINES, startDevice } from "./fixtures.js";

// The gateway says a text, and the speaker of a virtual device plays it.

for (const engine of cases(ENGINES)) {
	it(`a virtual device says a text, sample for sample, firmware on ${engine.kind}`, async (t) => {
		const side = await startProgram(t, { speechCommand: VOICE });
		const online = once(side.gateway.servers, "online");
		const { device } = await startDevice(t, engine, { config: { backend: side.deviceUrl } });
		const heard = follow(device);
		await online;
		const client = await connectClient(t, new URL(`${side.base}/mcp`), "2026-07-28");
		const text = "The soil is dry. Please water the plant.";
		const { structuredContent } = await client.callTool({
			name: "say",
			arguments: { text, devices: ["all"], volume: 100 },
		});
		const [{ outcome }] = (structuredContent as { results: [{ outcome: string }] }).results;
		assert.equal(outcome, "played");
		assert.equal(String.fromCharCode(...heard.samples().slice(0, text.length)), text);
	});
}
