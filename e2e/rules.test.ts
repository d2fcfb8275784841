import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { openDevice } from "xs-mcp/test";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { readSteps } from "../host-test/support/guide.js";
import { MANIFEST, ownProject } from "../host-test/support/own-project.js";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { bundleManifest, ENGINES, type Engine, startOwnDevice } from "./fixtures.js";

const pump = await bundleManifest("examples/pump/manifest.json");

const [source, , rule] = readSteps("rules.md").map(({ text }) => text);
const { unless: _night, ...WATER } = JSON.parse(rule ?? "");

const DRY = 2_900;
const WET = 1_200;

async function startPump(t: TestContext, engine: Engine) {
	const { device, side, server, log } = await startOwnDevice(t, engine, pump);
	device.setPin("soil", WET);
	const told: unknown[] = [];
	side.gateway.servers.on(
		"notification",
		(_server, method, params) => method === "notifications/rule_ran" && told.push(params),
	);
	const client = await connectClient(t, side.clientUrl(server.alias), "2025-11-25");
	const call = async (name: string, args: Record<string, unknown> = {}) => {
		const { structuredContent, content } = await client.callTool({ name: `self_rule_${name}`, arguments: args });
		return (structuredContent ?? content) as { rules: Record<string, unknown>[] } & Record<string, unknown>;
	};
	const isOn = (): boolean => device.pins.find(({ part }) => part === "pump")?.value === 1;
	return { device, server, client, call, isOn, log, told };
}

for (const engine of cases(ENGINES)) {
	describe(`rules that a client sets through the gateway, firmware on ${engine.kind}`, () => {
		it("run the pump within a second after the soil is dry, without the network, and after a restart", async (t) => {
			const { device, server, call, isOn, log, told } = await startPump(t, engine);
			const [{ arguments: args }] = WATER.do;
			// A client knows the device's tools by other names.
			const known = { ...WATER, cooldown: 1, do: [{ tool: "self_switch_set", arguments: args }] };
			const { local_time: _time, ...stored } = await call("set", known);
			assert.deepEqual(stored, { ...WATER, cooldown: 1, on: true, runs: 0 });
			device.setPin("soil", DRY);
			await until(isOn, "the pump is on");
			device.setPin("soil", WET);
			await until(() => !isOn(), "the pump is off");
			assert.deepEqual(told[0], { rule: "water", ok: true });
			device.network = { ...device.network, lost: true };
			const restarted = once(device, "restarted");
			device.restart();
			await restarted;
			device.setPin("soil", DRY);
			await until(isOn, "the pump is on again");
			device.network = { ...device.network, lost: false };
			await until(() => server.online, "online again");
			const { rules } = await call("list");
			assert.deepEqual([rules.length, rules[0]?.name], [1, "water"]);
			// The soil is still dry, and the cooldown is a second.
			assert.ok(Number(rules[0]?.runs) >= 1);
			assert.ok(log.filter((line) => line === "rule water: done").length >= 2);
		});

		it("are refused with the name of the member that is wrong", async (t) => {
			const { call } = await startPump(t, engine);
			const calls = (seconds: number) => [{ tool: "self.switch.set", arguments: { name: "pump", on: true, seconds } }];
			const text = async (change: object) => JSON.stringify(await call("set", { ...WATER, ...change }));
			assert.match(await text({ do: calls(60) }), /seconds: pump stays on for at most 30 seconds, not 60/);
			assert.match(await text({ when: { sensor: "sun", below: 3 } }), /when\.sensor: expected one of soil, door/);
			assert.match(await text({ when: { every: 5 } }), /every/);
			assert.match(await text({ when: { event: "switch.changed" } }), /pump would switch itself on again/);
			assert.match(await text({ do: [{ tool: "self.reboot" }] }), /no rule may call self\.reboot/);
			assert.deepEqual((await call("list")).rules, []);
		});
	});
}

describe("handlers in a project", () => {
	it("run by a press, a limit and the time, as its test sees them", async (t) => {
		const { include } = MANIFEST;
		const manifest = { ...MANIFEST, include, modules: { device: "./device" } };
		const none = { "tools/level.ts": undefined, "lib/level.ts": undefined };
		const folder = ownProject({ ...none, "device.ts": source, "manifest.json": JSON.stringify(manifest) });
		const device = await openDevice({ folder, config: { timezone: "UTC0" } });
		t.after(() => device.close());
		device.set("soil", WET);
		await device.press("doorbell");
		assert.equal(device.read("lamp"), 1);
		await device.press("doorbell");
		assert.equal(device.read("lamp"), 0);
		await assert.rejects(device.press("bell"), /^Error: bell: no such button, expected doorbell$/);
		device.set("soil", DRY);
		await device.tick(2);
		assert.equal(device.read("pump"), 1);
		await device.tick(5);
		assert.equal(device.read("pump"), 0);
		device.set("soil", WET);
		// Some time has passed by itself, too.
		await device.tick(3_595);
		assert.equal(device.read("pump"), 1);
	});
});
