import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { type HistoryPart, thinned } from "../src/history/history.js";
import { history as historyPlugin } from "../src/history/plugin.js";
import { startWithToken } from "../testing/console.js";
import { LAMP, STATUS, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram } from "../testing/program.js";

async function startWithDevice(t: TestContext, status: () => object, stateFolder = makeStateFolder()) {
	const program = await startProgram(t, {}, stateFolder);
	const device = await WireDevice.connect(t, program, {
		id: LAMP,
		tools: [STATUS],
		onCall: () => ({ content: [{ type: "text", text: JSON.stringify(status()) }] }),
	});
	return { ...program, device };
}

async function readHistory(base: string, query = ""): Promise<HistoryPart & { readonly from: number }> {
	return (await (await fetch(`${base}/devices/${LAMP}/history${query}`)).json()) as never;
}

const valuesOf = (part: HistoryPart, path: string) => part.values[path]?.map(([, value]) => value);

describe("the history of a device", () => {
	it("has readings, battery and signal, also if no client asks, and the states", async (t) => {
		let level = 88;
		let temperature = 21.5;
		const status = () => ({
			battery: { level, charging: false },
			network: { type: "wifi", ssid: "home", signal: "strong" },
			sensors: { temperature: { kind: "temperature", unit: "°C", value: temperature } },
		});
		const { base, device, gateway } = await startWithDevice(t, status);
		const { history } = gateway.use(historyPlugin);
		assert.ok(history);
		const read = async (): Promise<void> => {
			const { length } = device.calls;
			await until(async () => {
				// Long after the last time. Nothing is read before the last answer has come.
				await history.tick(Date.now() + 86_400_000);
				return device.calls.length > length;
			}, "the gateway reads the status");
		};
		await read();
		level = 60;
		await read();
		// The gateway may have asked once more by now: its answer must not be older than the notification.
		temperature = 22;
		device.notify("notifications/sensor_changed", { sensor: "temperature", value: temperature });
		device.notify("notifications/switch_changed", { switch: "pump", on: false, cause: "limit" });
		device.notify("notifications/state_changed", { newState: "speaking", oldState: "idle" });
		await until(async () => {
			await history.tick();
			const part = await readHistory(base);
			return valuesOf(part, "sensors.temperature.value")?.length === 2 && part.states.length === 2;
		}, "everything is on disk");
		const part = await readHistory(base);
		assert.deepEqual(valuesOf(part, "battery.level")?.at(-1), 60);
		assert.deepEqual(valuesOf(part, "network.signal"), ["strong"]);
		assert.deepEqual(valuesOf(part, "sensors.temperature.value"), [21.5, 22]);
		assert.deepEqual(valuesOf(part, "switches.pump.on"), [false]);
		const states = part.states.map(({ state }) => state);
		assert.deepEqual(states, ["online", "speaking"]);
		assert.equal(part.values["network.ssid"], undefined);
	});

	it("has readings of a device while many are silent, each read once at a time", async (t) => {
		const { gateway, device, ...program } = await startWithDevice(t, () => ({ battery: { level: 7 } }));
		const ids = Array.from({ length: 40 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		const silent = await Promise.all(
			ids.map((id) => WireDevice.connect(t, { gateway, ...program }, { id, tools: [STATUS], onCall: () => undefined })),
		);
		await device.unplug();
		const last = await WireDevice.connect(
			t,
			{ gateway, ...program },
			{ id: "ff:ff:ff:00:00:01", tools: [STATUS], onCall: () => ({ content: [{ type: "text", text: "{}" }] }) },
		);
		const { history } = gateway.use(historyPlugin);
		for (const round of [1, 2]) {
			await until(async () => {
				await history?.tick(Date.now() + 86_400_000);
				return last.calls.length >= round;
			}, "the device that answers is read");
		}
		await until(() => silent.every(({ calls }) => calls.length > 0), "the others are asked");
		for (const { calls, cancelled } of silent) {
			assert.ok(calls.length - cancelled.length <= 1, `${calls.length} reads, of which ${cancelled.length} have ended`);
		}
	});

	it("is not read each minute if the device's status is only text", async (t) => {
		const { device, gateway } = await startWithDevice(t, () => "fine" as never);
		const { history, statuses } = gateway.use(historyPlugin);
		const read = once(statuses, "read");
		await history?.tick(Date.now() + 86_400_000);
		await read;
		await history?.tick(Date.now() + 120_000);
		const server = gateway.servers.find(LAMP);
		assert.ok(server && (await statuses.read(server)) === undefined && device.calls.length === 2);
	});

	it("has the values of the device's status alone, whatever other tools are named like it", async (t) => {
		const program = await startProgram(t);
		const other = { ...STATUS, name: "self.printer.get_device_status" };
		const device = await WireDevice.connect(t, program, {
			id: LAMP,
			tools: [other, STATUS],
			onCall: ({ name }) => ({
				content: [{ type: "text", text: JSON.stringify({ battery: { level: name === STATUS.name ? 1 : 2 } }) }],
			}),
		});
		const { gateway, base } = program;
		const server = gateway.servers.find(LAMP);
		const tool = server?.tools.find(({ name }) => name === other.name);
		assert.ok(server && tool);
		const { history } = gateway.use(historyPlugin);
		await history?.tick();
		await until(() => device.calls.length === 1, "the status is read");
		await server.call(tool, {}, { principal: "test" });
		await history?.tick();
		await until(async () => {
			await history?.tick();
			return valuesOf(await readHistory(base), "battery.level") !== undefined;
		}, "it is on disk");
		assert.deepEqual(valuesOf(await readHistory(base), "battery.level"), [1]);
	});

	it("is there after a restart, with gaps while the device was offline, and goes when the device is forgotten", async (t) => {
		const stateFolder = makeStateFolder();
		const { base, device, gateway } = await startWithDevice(t, () => ({ battery: { level: 5 } }), stateFolder);
		await gateway.use(historyPlugin).history?.tick();
		await until(() => device.calls.length === 1, "the status is read");
		await until(async () => {
			await gateway.use(historyPlugin).history?.tick();
			return valuesOf(await readHistory(base), "battery.level")?.length === 1;
		}, "it is on disk");
		await device.unplug();
		await until(async () => (await readHistory(base)).states.at(-1)?.state === "offline", "the device is offline");
		assert.equal(gateway.servers.find(LAMP)?.online, false);
		await gateway.close();
		const next = await startProgram(t, {}, stateFolder);
		const part = await readHistory(next.base);
		assert.deepEqual(valuesOf(part, "battery.level"), [5]);
		assert.equal(part.states.at(-1)?.state, "offline");
		assert.ok((await (await fetch(`${next.base}/metrics`)).text()).match(/xs_mcp_gateway_history_bytes [1-9]/));
		// Values from before the span stand at its beginning.
		const from = Date.now() - 1;
		assert.deepEqual((await readHistory(next.base, `?from=${from}`)).values["battery.level"], [[from, 5]]);
		await next.gateway.servers.forget(LAMP);
		await until(() => readdirSync(join(stateFolder, "history")).length === 0, "its files are gone");
	});

	it("has the device's log, for an operator", async (t) => {
		const { base, device } = await startWithDevice(t, () => ({}));
		device.notify("notifications/message", { level: { toString: 1 }, logger: { toString: 1 }, data: "wet" });
		device.notify("notifications/sensor_changed", { sensor: { toString: 1 }, value: 1 });
		device.notify("notifications/message", { level: "warning", logger: "pump", data: "dry" });
		const read = async () => (await (await fetch(`${base}/devices/${LAMP}/log`)).json()) as { messages: object[] };
		await until(async () => (await read()).messages.length === 2, "the messages are kept");
		const [message] = (await read()).messages as { level: string; text: string }[];
		assert.deepEqual([message?.level, message?.text], ["warning", "pump: dry"]);
		const other = await startWithToken(t);
		const headers = { Authorization: `Bearer ${other.secret}` };
		assert.equal((await fetch(`${other.base}/devices/${LAMP}/log`, { headers })).status, 403);
	});

	it("can be off", async (t) => {
		const { base, gateway, deviceUrl, stateFolder } = await startProgram(t, { historyBytes: 0, auditBytes: 0 });
		await WireDevice.connect(t, { gateway, deviceUrl }, { id: LAMP });
		for (const path of [`/devices/${LAMP}/history`, `/devices/${LAMP}/log`, "/audit"]) {
			const response = await fetch(base + path);
			assert.equal(response.status, 404);
			assert.match(await response.text(), /setting (history|audit)Bytes is 0/);
		}
		assert.deepEqual(
			readdirSync(stateFolder).filter((name) => /history|audit/.test(name)),
			[],
		);
	});

	it("names a time that cannot be read", async (t) => {
		const { base } = await startWithDevice(t, () => ({}));
		const response = await fetch(`${base}/devices/${LAMP}/history?from=yesterday`);
		assert.equal(response.status, 400);
		assert.match(await response.text(), /from: expected milliseconds/);
	});
});

it("a long series keeps its least and greatest values", () => {
	const points = Array.from({ length: 100_000 }, (_, index): [number, number] => [
		index,
		index === 77_777 ? 1_000 : index % 7,
	]);
	const fewer = thinned(points);
	assert.ok(fewer.length <= 1_000, `${fewer.length}`);
	assert.ok(fewer.some(([, value]) => value === 1_000));
	const times = fewer.map(([time]) => time);
	assert.deepEqual(
		times,
		fewer.map(([time]) => time).sort((one, other) => one - other),
	);
});
