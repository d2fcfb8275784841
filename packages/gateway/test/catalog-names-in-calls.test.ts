import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { connectClient, ERAS, SET_VOLUME, startGateway, WireDevice } from "../testing/gateway.js";

const BLINK = { name: "self.led.blink", description: "Blink", inputSchema: { type: "object" } };
const [FIRST, SECOND] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];

async function start(t: TestContext, era: keyof typeof ERAS = "2025-11-25", catalog = "full") {
	const side = await startGateway(t);
	const first = await WireDevice.connect(t, side, { id: FIRST, tools: [SET_VOLUME, BLINK] });
	const second = await WireDevice.connect(t, side, { id: SECOND, tools: [SET_VOLUME] });
	const client = await connectClient(t, new URL(`${side.clientUrl()}?catalog=${catalog}`), era);
	return { first, second, client };
}

const itStarted = testWith(start);

describe("the name of a tool in a call", () => {
	for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
		for (const name of [
			"lamp_000001__self_led_blink",
			"lamp_000001__self.led.blink",
			"self_led_blink",
			"self.led.blink",
		]) {
			it(`may be ${name}, in ${era}`, async (t) => {
				const { client, first } = await start(t, era);
				assert.equal((await client.callTool({ name, arguments: {} })).isError ?? false, false);
				assert.equal(first.calls.length, 1);
			});
		}
	}

	it("may have any form in tool_call and tool_describe, too", async (t) => {
		const { client, first } = await start(t, "2025-11-25", "search");
		await client.callTool({ name: "tool_call", arguments: { name: "self.led.blink" } });
		assert.equal(first.calls.length, 1);
		const described = await client.callTool({ name: "tool_describe", arguments: { name: "self.led.blink" } });
		assert.match(JSON.stringify(described.content), /lamp_000001__self_led_blink/);
	});

	itStarted("that several devices have is answered with the names of each", async ({ client, first, second }) => {
		const name = "self.audio_speaker.set_volume";
		const result = await client.callTool({ name, arguments: { volume: 1 } }).catch((error: Error) => error);
		// In a list of groups the name is that of all of them, and devices are named.
		assert.match(JSON.stringify(result), /devices|Did you mean/);
		assert.deepEqual([first.calls, second.calls], [[], []]);
	});

	for (const [name, suggestion] of [
		["self_led_blnk", "lamp_000001__self_led_blink"],
		["blink", "lamp_000001__self_led_blink"],
		["lamp_000002__self_audio_speaker_setvolume", "lamp_000002__self_audio_speaker_set_volume"],
	] as const) {
		itStarted(`that is wrong gets a suggestion: ${name}`, async ({ client }) => {
			await assert.rejects(client.callTool({ name, arguments: {} }), {
				message: new RegExp(`Unknown tool: ${name}\\. Did you mean ${suggestion}\\?`),
			});
		});
	}

	itStarted("that is like none gets no suggestion", async ({ client }) => {
		await assert.rejects(client.callTool({ name: "make_coffee_now", arguments: {} }), /Unknown tool: make_coffee_now$/);
	});
});
