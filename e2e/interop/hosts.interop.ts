import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { SET_VOLUME, WireDevice } from "xs-mcp-gateway/testing/gateway";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { knownDevices, startGateway, untilKnown } from "../gateway-process.js";
import { startDevice } from "./device.js";
import { gatewayAt, HOSTS, type Way } from "./hosts.js";
import { ScriptedApi } from "./scripted-api.js";

const VOLUME = 32;
/** Milliseconds that a host has to read the list again. It would have more if a model thought. */
const NOTICE_TIME = 8_000;

const WAYS: readonly Way[] = ["http", "stdio"];

/** A device's tools besides its light: with fifty devices, the list is a search. */
const LIGHT = {
	name: "self.light.set",
	description: "Turn a light of the device on or off.",
	inputSchema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
};
const OTHERS = Array.from({ length: 9 }, (_, index) => ({ ...SET_VOLUME, name: `self.other.set_${index}` }));

const MOISTURE = {
	name: "self.sensor.read",
	description: "Read one sensor of the device, or all of them: soil moisture.",
	inputSchema: { type: "object", properties: {} },
	annotations: { readOnlyHint: true },
};

async function openGateway(t: TestContext) {
	const gateway = await startGateway(temporaryFolder());
	t.after(() => gateway.program.stop());
	return gateway;
}

const idOf = (number: number): string => `aa:bb:cc:00:00:${number.toString(16).padStart(2, "0")}`;

const told = (results: readonly string[]): string => results.at(-1)?.slice(-400) ?? "";

for (const host of HOSTS) {
	describe(host.title, { skip: host.skip }, () => {
		it("sets a device's volume", async (t) => {
			const gateway = await openGateway(t);
			await startDevice(t, { backend: gateway.deviceUrl });
			await untilKnown(gateway, 1);
			const model = await ScriptedApi.listen(t, { ending: "set_volume", args: { volume: VOLUME } });
			const output = await host.run(t, { server: gatewayAt(gateway.base), model, prompt: "Set the volume" });
			assert.equal(model.results.length, 1, output);
			assert.match(told(model.results), /true|volume/);
			assert.doesNotMatch(told(model.results), /error|rejected|cancelled/i);
			const [{ alias = "" } = {}] = await knownDevices(gateway);
			const client = await connectOverHttp(`${gateway.base}/mcp/${alias}`, "2025-11-25");
			t.after(() => client.close());
			const { content } = await client.callTool({ name: "self_get_device_status" });
			assert.match((content as { text: string }[])[0]?.text ?? "", new RegExp(`"volume":${VOLUME}\\b`));
		});

		it("turns off all lights of 50 devices by one call", async (t) => {
			const gateway = await openGateway(t);
			const onCall = () => ({ content: [{ type: "text", text: "true" }] });
			const numbers = Array.from({ length: 50 }, (_, index) => index + 1);
			const connect = (number: number) =>
				WireDevice.connectTo(t, gateway.deviceUrl, { id: idOf(number), tools: [LIGHT, ...OTHERS], onCall });
			const devices = await Promise.all(numbers.map(connect));
			await untilKnown(gateway, devices.length);
			const model = await ScriptedApi.listen(
				t,
				{ ending: "tools_search", args: { query: "turn off all lights" } },
				{
					ending: "tool_call",
					args: ([found = ""]) => ({
						name: /(lamp_\w+__)?self_light_set/.exec(found)?.[0] ?? "",
						devices: ["all"],
						arguments: { on: false },
					}),
				},
			);
			const output = await host.run(t, { server: gatewayAt(gateway.base), model, prompt: "Turn off all lights" });
			assert.equal(model.results.length, 2, output);
			const calls = devices.flatMap((device) => device.calls);
			assert.equal(calls.length, 50, told(model.results));
			assert.ok(calls.every(({ name, arguments: { on } }) => name === LIGHT.name && on === false));
			const offered = model.offered[0]?.filter((name) => /devices|servers_list|tools?_/.test(name)).length;
			t.diagnostic(`${offered} tools offered; a search, then one call for ${calls.length} devices`);
		});

		it("reads the soil's moisture when it is asked", async (t) => {
			const gateway = await openGateway(t);
			const text = JSON.stringify({ soil: { kind: "moisture", value: 28, unit: "%" } });
			const onCall = () => ({ content: [{ type: "text", text }] });
			await WireDevice.connectTo(t, gateway.deviceUrl, { tools: [MOISTURE], onCall });
			await untilKnown(gateway, 1);
			const model = await ScriptedApi.listen(t, { ending: "sensor_read", args: {} });
			await host.run(t, { server: gatewayAt(gateway.base), model, prompt: "Tell me when the soil is dry" });
			assert.match(told(model.results), /28/);
		});

		for (const way of WAYS) {
			it(`with a new device while it works, over ${way === "http" ? "HTTP" : "the stdio bridge"}`, async (t) => {
				const gateway = await openGateway(t);
				const connect = (number: number) =>
					WireDevice.connectTo(t, gateway.deviceUrl, {
						id: idOf(number),
						tools: [SET_VOLUME],
						onCall: () => ({ content: [{ type: "text", text: "true" }] }),
					});
				await connect(1);
				await untilKnown(gateway, 1);
				const step = { ending: "lamp_000001__self_audio_speaker_set_volume", args: { volume: VOLUME } };
				const model = await ScriptedApi.listen(t, step, step, step);
				const isOffered = (at: number): boolean => model.offered[at]?.some((name) => /lamp_000002/.test(name)) === true;
				model.onResults = async (count) => {
					if (count === 1) {
						await connect(2);
						await untilKnown(gateway, 2);
						await delay(NOTICE_TIME);
					}
				};
				const output = await host.run(t, {
					server: gatewayAt(gateway.base, way),
					model,
					prompt: "Set the volume three times",
				});
				assert.equal(model.results.length, 3, output);
				await until(() => model.offered.length === 4, "the last turn");
				t.diagnostic(isOffered(2) ? "in the next turn" : isOffered(3) ? "one turn later" : "not noticed");
			});
		}
	});
}
