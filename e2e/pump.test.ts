import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { bundleManifest, ENGINES, type Engine, startOwnDevice } from "./fixtures.js";

const pump = await bundleManifest("examples/pump/manifest.json");
const heater = await bundleManifest("host-test/fixtures/heater/manifest.json");

const MAX_RESTARTS = 10;

async function startPump(t: TestContext, engine: Engine, script = pump) {
	const { device, side, server } = await startOwnDevice(t, engine, script);
	const client = await connectClient(t, side.clientUrl(server.alias), "2025-11-25");
	const call = async (name: string, args: Record<string, unknown> = {}) =>
		await client.callTool({ name, arguments: args });
	return { device, server, client, call };
}

for (const engine of cases(ENGINES)) {
	describe(`a pump with a soil sensor, firmware on ${engine.kind}`, () => {
		it("is listed with its parts' names, switched by a client, and switches itself off", async (t) => {
			const { device, client, call, server } = await startPump(t, engine);
			const notes: string[] = [];
			device.on("note", (text) => notes.push(text));
			const { tools } = await client.listTools();
			const tool = tools.find(({ name }) => name === "self_switch_set");
			const { name } = (tool?.inputSchema.properties ?? {}) as Record<string, { enum?: unknown }>;
			assert.deepEqual(name?.enum, ["pump"]);
			const { structuredContent } = await call("self_switch_set", { name: "pump", on: true, seconds: 0.5 });
			assert.equal((structuredContent as { on: boolean }).on, true);
			assert.deepEqual(
				device.pins.map(({ pin, part, kind }) => ({ pin, part, kind })),
				[
					{ pin: 4, part: "door", kind: "input" },
					{ pin: 26, part: "pump", kind: "output" },
					{ pin: 34, part: "soil", kind: "analog" },
				],
			);
			await until(() => notes.includes("pump is off"), "off");
			assert.deepEqual(notes, ["pump is on", "pump is off"]);
			await until(() => server.event?.params?.on === false, "told");
			assert.deepEqual(server.event?.params, { switch: "pump", on: false, cause: "limit" });
		});

		it("sends a line to a serial port, tells of the answer, and has it in its status", async (t) => {
			const { device, call, client, server } = await startPump(t, engine, heater);
			await until(() => server.state === "idle", "in a session");
			const { tools } = await client.listTools();
			const tool = tools.find(({ name }) => name === "self_line_send");
			const { name } = (tool?.inputSchema.properties ?? {}) as Record<string, { enum?: unknown }>;
			assert.deepEqual(name?.enum, ["scale"]);
			await call("self_line_send", { name: "scale", text: "weigh" });
			await until(() => device.pins.find(({ pin }) => pin === 17)?.value === "weigh", "sent");
			device.setPin("scale", "12.5 kg");
			await until(() => server.event?.method === "notifications/line_received", "told");
			assert.deepEqual(server.event?.params, { line: "scale", text: "12.5 kg" });
			const { structuredContent } = await call("self_get_device_status");
			assert.deepEqual((structuredContent as { lines?: unknown }).lines, { scale: { last: "12.5 kg" } });
		});

		it("tells of moisture and of its door, and has them in its status", async (t) => {
			const { device, call, server } = await startPump(t, engine);
			await until(() => server.state === "idle", "in a session");
			const before = await call("self_sensor_read", { sensor: "soil" });
			assert.deepEqual(before.structuredContent, { soil: { kind: "moisture", value: 50.12, unit: "%" } });
			device.setPin("soil", 1_710);
			await until(() => server.event?.method === "notifications/sensor_changed", "told");
			assert.deepEqual(server.event?.params, { sensor: "soil", kind: "moisture", value: 70, unit: "%" });
			device.setPin(4, 0);
			await until(() => server.event?.params?.sensor === "door", "told of the door");
			assert.deepEqual(server.event?.params, { sensor: "door", kind: "opening", value: false });
			const { structuredContent } = await call("self_get_device_status");
			const { sensors, switches } = structuredContent as Record<string, unknown>;
			assert.deepEqual(sensors, {
				soil: { kind: "moisture", value: 70, unit: "%" },
				door: { kind: "opening", value: false },
			});
			assert.deepEqual(switches, { pump: { title: "Pump", on: false, max_seconds: 30 } });
			assert.throws(() => device.setPin("sun", 1), /^Error: sun: expected door, soil$/);
			assert.throws(() => device.setPin("soil", 5_000), /soil: expected a number from 0 to 4095, got 5000/);
		});

		it("finds its surroundings as they were after a restart, and its pump off", async (t) => {
			const { device, call, server } = await startPump(t, engine);
			device.setPin("soil", 1_200);
			await call("self_switch_set", { name: "pump", on: true });
			const restarted = once(device, "restarted");
			device.restart();
			await restarted;
			await until(() => server.online, "online again");
			const { structuredContent } = await call("self_get_device_status");
			const { sensors, switches } = structuredContent as Record<string, Record<string, Record<string, unknown>>>;
			assert.deepEqual([sensors?.soil?.value, switches?.pump?.on], [100, false]);
		});

		it("starts without its parts after ten restarts in a row, and says why", async (t) => {
			const { device, client, call, server } = await startPump(t, engine);
			const traces: string[] = [];
			device.on("trace", (line) => traces.push(line));
			for (let start = 0; start <= MAX_RESTARTS; start += 1) {
				const restarted = once(device, "restarted");
				device.restart();
				await restarted;
			}
			await until(() => server.online, "online again");
			assert.match(traces.join("\n"), /^safe mode: the device restarted again and again/m);
			const { structuredContent } = await call("self_get_device_status");
			assert.equal((structuredContent as { switches?: unknown }).switches, undefined);
			const { tools } = await client.listTools();
			assert.ok(!tools.some(({ name }) => name === "self_switch_set"));
		});
	});
}
