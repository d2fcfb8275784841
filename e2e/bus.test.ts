import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { openDevice } from "xs-mcp/test";
import { addControls } from "xs-mcp-virtual-device/prompt";
import { callTool } from "../host-test/support/call-tool.js";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { bundleManifest, ENGINES, type Engine, startOwnDevice } from "./fixtures.js";

// Sensors of a virtual device, without the SDK.

interface SensorStatus {
	readonly value?: unknown;
	readonly error?: string;
}

async function startAir(t: TestContext, engine: Engine) {
	const { device, log, server } = await startOwnDevice(
		t,
		engine,
		await bundleManifest("host-test/fixtures/air/manifest.json"),
	);
	const read = async (sensor: string): Promise<SensorStatus | undefined> => {
		const { structuredContent } = (await callTool(server.connection, "self.get_device_status")) as {
			structuredContent: { sensors: Readonly<Record<string, SensorStatus>> };
		};
		return structuredContent.sensors[sensor];
	};
	return { device, log, server, read };
}

for (const engine of cases(ENGINES)) {
	describe(`a sensor of the virtual device, firmware on ${engine.kind}`, () => {
		it("has all readings of its driver with their units, and reports changes", async (t) => {
			const { device, server, read } = await startAir(t, engine);
			const unit = { temperature: "°C", humidity: "%" };
			const about = { title: "Living room", kind: "combined", unit };
			assert.deepEqual(await read("air"), { ...about, value: { temperature: 21.5, humidity: 45 } });
			device.setChip("air", { temperature: -12.25, humidity: 20 });
			await until(() => server.event?.method === "notifications/sensor_changed", "reported");
			const value = { temperature: -12.25, humidity: 20 };
			assert.deepEqual(server.event?.params, { sensor: "air", kind: "combined", value, unit });
			assert.throws(
				() => device.setChip("air", { pressure: 1 }),
				/^Error: air\.pressure: expected humidity, temperature$/,
			);
			assert.throws(
				() => device.setChip("air", { humidity: 101 }),
				/^RangeError: air\.humidity: expected a number from 0 to 100 %, got 101$/,
			);
			assert.throws(() => device.setChip(0x20, {}), /expected .*air, .*weather/);
		});

		it("has the members, units and options of its driver", async (t) => {
			const { device, read } = await startAir(t, engine);
			device.setChip("weather", { temperature: -4.5, pressure: 98_500 });
			device.setChip("room", { humidity: 61.5 });
			device.setChip("motion", { accelerometer_x: 1 });
			device.setChip("gas", { co2: 1_200 });
			device.setChip("tank", { distance: 12 });
			device.setChip("soil", { moisture: 70 });
			device.setChip("light", { illuminance: 1_000 });
			device.setChip("water", { temperature: -1 });
			device.setChip("own", { 0: 30 });
			await until(async () => (await read("own"))?.value === 30, "set");
			const values = async (name: string): Promise<unknown> => (await read(name))?.value;
			assert.deepEqual(await values("weather"), { pressure: 98_500, temperature: -4.5 });
			assert.deepEqual(await values("room"), { temperature: 21.5, humidity: 61.5, pressure: 101_325 });
			assert.deepEqual(await values("motion"), {
				accelerometer_x: 1,
				accelerometer_y: 0,
				accelerometer_z: 9.81,
				gyroscope_x: 0,
				gyroscope_y: 0,
				gyroscope_z: 0,
			});
			assert.deepEqual(await values("gas"), { co2: 1_200, tvoc: 100, current: 20, rawadc: 400 });
			assert.deepEqual(await values("tank"), { near: true, distance: 12, max: 400 });
			assert.deepEqual(await read("soil"), { kind: "moisture", value: 70, unit: "%" });
			assert.deepEqual(await read("light"), { kind: "illuminance", value: 1_000, unit: "lx" });
			assert.deepEqual(await read("water"), { kind: "temperature", value: -1, unit: "°C" });
			const wrong = 'wrong: io: the driver Proximity/HC-SR04 takes "embedded:io/pulsewidth"';
			assert.equal((await read("wrong"))?.error, wrong);
		});

		it("is set and unplugged at the prompt", async (t) => {
			const { device, read } = await startAir(t, engine);
			const type = (...words: string[]) =>
				addControls(new Command(), device).parseAsync(["set", ...words], { from: "user" });
			await type("air", "temperature=30", "humidity=40");
			await until(async () => JSON.stringify(await read("air")).includes('"temperature":30'), "set");
			await type("air", "off");
			await until(async () => (await read("air"))?.error !== undefined, "unplugged");
			await assert.rejects(type("air", "pressure=1"), /air\.pressure: expected humidity, temperature/);
		});

		it("is named in the status while it does not answer, and measures again when it is back", async (t) => {
			const { device, log, read } = await startAir(t, engine);
			device.setChip("air", null);
			await until(() => log.some((line) => /^air: no answer from address 0x44; tried again/.test(line)), "lost");
			assert.equal((await read("air"))?.error, "air: no answer from address 0x44");
			device.restart();
			await once(device, "restarted");
			device.setChip("air", { temperature: 5, humidity: 45 });
			await until(async () => (await read("air").catch(() => undefined))?.value !== undefined, "back");
			assert.deepEqual((await read("air"))?.value, { temperature: 5, humidity: 45 });
		});
	});
}

it("a project's test sets and unplugs a sensor of the SDK without the SDK", async (t) => {
	const device = await openDevice({ folder: fileURLToPath(new URL("../host-test/fixtures/air", import.meta.url)) });
	t.after(() => device.close());
	const read = () => device.call("self.sensor.read", { sensor: "room" });
	device.set("room", { temperature: 21, humidity: 40 });
	const unit = { temperature: "°C", humidity: "%", pressure: "Pa" };
	const value = { temperature: 21, humidity: 40, pressure: 101_325 };
	assert.deepEqual(await read(), { room: { kind: "combined", value, unit } });
	device.set("room", null);
	await assert.rejects(read(), /no answer from address 0x77/);
	assert.throws(() => device.set("room", { temperature: 400 }), /expected a number from -40 to 125 °C, got 400/);
});
