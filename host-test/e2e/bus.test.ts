import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { callTool } from "../support/call-tool.js";
import { cases } from "../support/scope.js";
import { noSdk } from "../support/sdk.js";
import { until } from "../support/until.js";
import { bundleManifest, ENGINES, type Engine, startOwnDevice } from "./fixtures.js";

async function startAir(t: TestContext, engine: Engine, fixture: string) {
	const { device, log, server } = await startOwnDevice(
		t,
		engine,
		await bundleManifest(`host-test/fixtures/${fixture}/manifest.json`),
	);
	const sensors = async (): Promise<{ readonly air?: unknown; readonly weather?: unknown }> => {
		const { structuredContent } = (await callTool(server.session, "self.get_device_status")) as {
			structuredContent: { sensors: object };
		};
		return structuredContent.sensors;
	};
	const read = async (): Promise<unknown> => (await sensors()).air;
	return { device, log, server, sensors, read };
}

/** The converters have 20 bits. */
function assertNear(values: Readonly<Record<string, number>> | undefined, expected: Readonly<Record<string, number>>) {
	assert.deepEqual(Object.keys(values ?? {}).sort(), Object.keys(expected).sort());
	for (const [name, value] of Object.entries(expected)) {
		assert.ok(
			Math.abs((values?.[name] ?? Number.NaN) - value) < Math.abs(value) / 100_000 + 0.02,
			`${name}: ${values?.[name]}`,
		);
	}
}

for (const engine of cases(ENGINES)) {
	describe(`a sensor on the I2C bus, firmware on ${engine.kind}`, () => {
		it("measures all that its driver's samples have, with their units, and tells of changes", async (t) => {
			const { device, server, sensors, read } = await startAir(t, engine, "air");
			const unit = { temperature: "°C", humidity: "%" };
			const about = { title: "Living room", kind: "combined", unit };
			assert.deepEqual(await read(), { ...about, value: { temperature: 21.5, humidity: 45 } });
			device.setChip("air", { temperature: 30, humidity: 20 });
			await until(() => server.event?.method === "notifications/sensor_changed", "told");
			const value = { temperature: 30, humidity: 20 };
			assert.deepEqual(server.event?.params, { sensor: "air", kind: "combined", value, unit });
			device.setChip("weather", { temperature: -4, pressure: 98_500 });
			await until(async () => JSON.stringify((await sensors()).weather).includes("-4"), "measured");
			const { kind, value: weather } = (await sensors()).weather as { kind: string; value: Record<string, number> };
			assert.equal(kind, "combined");
			// The converter has 20 bits.
			assert.ok(Math.abs((weather.pressure ?? 0) - 98_500) < 1, String(weather.pressure));
			assert.throws(
				() => device.setChip("air", { pressure: 1 }),
				/^Error: air\.pressure: expected temperature, humidity$/,
			);
			assert.throws(() => device.setChip(0x20, {}), /expected air, weather/);
		});

		it("is named in the status while it does not answer, and measures again when it is back", async (t) => {
			const { device, log, read } = await startAir(t, engine, "air");
			device.setChip("air", null);
			await until(() => log.some((line) => /^air: no answer from address 0x44; tried again/.test(line)), "lost");
			const lost = (await read()) as { error?: string };
			assert.match(lost.error ?? "", /^air: no answer from address 0x44$/);
			device.restart();
			await once(device, "restarted");
			device.setChip("air", { temperature: 5, humidity: 45 });
			await until(
				async () => ((await read().catch(() => undefined)) as { value?: object })?.value !== undefined,
				"back",
			);
		});

		it("is read by the SDK's own driver", { skip: noSdk }, async (t) => {
			const { device, read } = await startAir(t, engine, "sdk-air");
			device.setChip("air", { temperature: -12.25, humidity: 80 });
			await until(async () => JSON.stringify(await read()).includes("-12.25"), "measured");
			const { value } = (await read()) as { value: object };
			assert.deepEqual(value, { temperature: -12.25, humidity: 80 });
		});

		it("is read by the SDK's drivers with functions in C, which the virtual device has in TypeScript: BMP280, BME68x", {
			skip: noSdk,
		}, async (t) => {
			const { device, sensors } = await startAir(t, engine, "sdk-bosch");
			device.setChip("weather", { temperature: -4.5, pressure: 98_500 });
			device.setChip("room", { temperature: 30.25, humidity: 61.5, pressure: 103_000 });
			await until(async () => /-4\.5.*30\.2/.test(JSON.stringify(await sensors())), "both have measured");
			const { weather, room } = (await sensors()) as Record<string, { value: Record<string, number> }>;
			assertNear(weather?.value, { temperature: -4.5, pressure: 98_500 });
			assertNear(room?.value, { temperature: 30.25, humidity: 61.5, pressure: 103_000 });
		});

		it("shares its bus with chips that tools use by the SDK's drivers: a real-time clock DS3231, an expander MCP23017", {
			skip: noSdk,
		}, async (t) => {
			const { device, server } = await startAir(t, engine, "sdk-chips");
			const call = async (name: string, args: object = {}) =>
				((await callTool(server.session, name, args)) as { structuredContent?: unknown }).structuredContent;
			const { time } = (await call("self.clock.set")) as { time: number };
			assert.ok(Math.abs(Date.now() - time) < 60_000, String(time));
			const leapDay = Date.UTC(2028, 1, 29, 23, 59, 30);
			const { time: set } = (await call("self.clock.set", { time: leapDay })) as { time: number };
			assert.ok(set >= leapDay && set < leapDay + 29_000, String(set));
			assert.deepEqual(await call("self.expander.set", { on: true }), { read: 0 });
			const expander = () => device.chips.find(({ type }) => type === "MCP23017")?.values;
			await until(() => expander()?.a3 === 1, "its output is on");
			device.setChip(0x20, { b0: 1 });
			assert.deepEqual(await call("self.expander.set", { on: false }), { read: 1 });
			await until(() => expander()?.a3 === 0, "its output is off");
			assert.deepEqual(
				device.chips.map(({ type, part }) => part ?? type),
				["MCP23017", "air", "DS3231"],
			);
		});

		it("is one of the SDK's drivers of pins: an HC-SR04, whose echo lasts 58 µs a cm, and a capacitive one", {
			skip: noSdk,
		}, async (t) => {
			const { device, sensors } = await startAir(t, engine, "sdk-drivers");
			// This driver does not pass on the name of the part.
			device.setPin(18, 2_900);
			device.setPin("soil", 512);
			await until(async () => JSON.stringify(await sensors()).includes('"distance":50'), "measured");
			const { tank, soil } = (await sensors()) as Record<string, unknown>;
			const value = { near: true, distance: 50, max: 400 };
			assert.deepEqual(tank, { kind: "combined", value, unit: { distance: "cm" } });
			assert.deepEqual(soil, { kind: "moisture", value: 50, unit: "%" });
		});
	});
}
