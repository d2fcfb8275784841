import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { nextOnline } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../host-test/support/call-tool.js";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { ENGINES, type Engine, openOverWebSocket, startDevice } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";

async function startNoted(t: TestContext, engine: Engine) {
	const { gateway, config } = await openOverWebSocket(t);
	const online = nextOnline(gateway.servers);
	const { device } = await startDevice(t, engine, { config });
	const notes: string[] = [];
	device.on("note", (text) => notes.push(text));
	const server = await online;
	await until(() => server.state === "idle", "in a session");
	return { gateway, device, notes, server };
}

for (const engine of cases(ENGINES)) {
	describe(`the parts of a virtual device, firmware on ${engine.kind}`, () => {
		it("reports short and long presses, and changes its state", async (t) => {
			const { gateway, device, server } = await startNoted(t, engine);
			const told: object[] = [];
			gateway.servers.on("notification", (_server, method, params) => told.push({ method, ...params }));
			const pressed = device.press();
			// The host has other work while the button is down: all that it does for the device comes late and together.
			await delay(60);
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
			await pressed;
			await until(() => server.state === "listening", "listening");
			const [press, change] = told as { milliseconds?: number }[];
			// How long it was down, as the device's timers see it: a busy computer fires them late.
			assert.ok(press?.milliseconds !== undefined && press.milliseconds > 0);
			assert.deepEqual(
				{ ...press, milliseconds: 0 },
				{ method: "notifications/button_pressed", button: "boot", long: false, milliseconds: 0 },
			);
			assert.deepEqual(change, {
				method: "notifications/state_changed",
				newState: "listening",
				oldState: "idle",
			});
			device.hold("boot", true);
			await until(() => told.some((each) => (each as { long?: boolean }).long === true), "a long press");
			device.hold("boot", false);
		});

		it("reports presses whose ends come together", async (t) => {
			const { gateway, device } = await startNoted(t, engine);
			const presses: unknown[] = [];
			gateway.servers.on(
				"notification",
				(_server, method) => method.endsWith("/button_pressed") && presses.push(method),
			);
			for (let press = 0; press < 3; press += 1) {
				device.hold("boot", true);
				device.hold("boot", false);
			}
			await until(() => presses.length === 3, "three presses");
		});

		it("says what is typed to its backend: the gateway tells at once that it has no assistant", async (t) => {
			const { device, notes, server } = await startNoted(t, engine);
			device.say("Wie ist das Wetter in München?");
			await until(() => notes.length > 0, "told");
			assert.deepEqual(notes, ["assistant: this backend has no assistant: it only passes on calls of tools"]);
			const result = await callTool(server.connection, "self.assistant.say", { text: "Hello" });
			assert.equal(result?.isError, true);
			assert.match(JSON.stringify(result?.content), /this backend has no assistant/);
			// An operator's program may speak through the gateway: clients are told what it says.
			server.connection?.send({ type: "tts", state: "sentence_start", text: "你好" });
			await until(() => server.event?.method === "notifications/said", "said");
			assert.deepEqual(server.event?.params, { role: "assistant", text: "你好" });
		});

		it("shows its light, and reports its sensors", async (t) => {
			const { device, notes, server } = await startNoted(t, engine);
			const call = async (name: string, args: object = {}): Promise<unknown> => {
				const result = await callTool(server.connection, name, args);
				return (result as { structuredContent?: unknown }).structuredContent;
			};
			await call("self.light.set", { color: "#ff0000", brightness: 40 });
			await until(() => notes.length > 0, "the light is on");
			await call("self.light.set", { on: false });
			await until(() => notes.length > 1, "the light is off");
			assert.deepEqual(notes, ["the light led is on: 40 % of #ff0000", "the light led is off"]);
			device.measure("temperature", 30.5);
			await until(() => server.event !== undefined, "the sensor has told");
			assert.deepEqual(server.event?.params, {
				sensor: "temperature",
				kind: "temperature",
				value: 30.5,
				unit: "°C",
			});
			const read = (await call("self.sensor.read")) as Record<string, unknown>;
			assert.deepEqual(read, {
				temperature: { kind: "temperature", value: 30.5, unit: "°C" },
				light: { kind: "light", value: 320, unit: "lx" },
				motion: { kind: "motion", value: { x: 0, y: 0, z: 9.81 }, unit: "m/s²" },
			});
			const status = (await call("self.get_device_status")) as Record<string, unknown>;
			assert.deepEqual(status.lights, { led: { on: false, brightness: 40, color: "#ff0000" } });
			assert.deepEqual(status.sensors, read);
		});
	});
}

describe("npm run device -- --prompt", () => {
	it("presses the button, sets a sensor's value, and reports unknown commands", async (t) => {
		const program = await startVirtualDevice("ws://127.0.0.1:1/", "--engine", "v8", "--prompt");
		t.after(() => program.stop());
		program.write("press\npress\n\nmeasure light 500\npress 0\nmeasure motion 1\njump\n");
		await until(() => /unknown command '?jump/.test(program.output), "all commands are read");
		await until(() => program.output.match(/button boot: press/g)?.length === 2, "the button is pressed twice");
		assert.match(program.output, /press: expected a whole number from 1 to 60000/);
		assert.match(program.output, /measure\.motion\.y: expected a number/);
		assert.doesNotMatch(program.output, /measure\.light: expected/);
	});

	it("lists the device's tools, calls them, and fails with one that fails, in the words of npm start", async () => {
		const program = await startVirtualDevice("ws://127.0.0.1:1/", "--engine", "v8", "--prompt");
		program.write("list\ncall self.light.set color=#ff8000\ncall self.light.sett\nstatus\n");
		program.write("call self.upgrade_firmware url=http://127.0.0.1:1/new.bin\nquit\n");
		assert.equal(await program.ended(), 1);
		assert.match(program.output, /^ +self\.light\.set +\(light, on, brightness, color\) Turn a light/m);
		assert.match(program.output, /^ +-> self\.light\.set \{"color":"#ff8000"\}\n(.*\n)* +\{.*"#ff8000".*\}$/m);
		assert.match(program.output, /^the light led is on: 50 % of #ff8000$/m);
		assert.match(program.output, /self\.light\.sett: unknown tool: did you mean self\.light\.set\?/);
		assert.match(program.output, /^ +\{"audio_speaker":/m);
		assert.match(program.output, /^ +failed: .*127\.0\.0\.1:1/m);
	});

	it("names its commands, and ends with quit or with its input", async () => {
		for (const end of ["quit\n", ""]) {
			const program = await startVirtualDevice("ws://127.0.0.1:1/", "--engine", "v8", "--prompt");
			program.write(`help\n${end}`);
			if (end === "") {
				program.endInput();
			}
			assert.equal(await program.ended(), 0);
			assert.match(program.output, /^ *Usage: COMMAND$/m);
			assert.match(program.output, /^ +press .*milliseconds/m);
		}
	});
});
