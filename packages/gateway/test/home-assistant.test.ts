import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import mqtt, { type MqttClient } from "mqtt";
import { freePort, testWith, until } from "../../../host-test/support/testing.js";
import { keyOf } from "../src/home-assistant/discovery.js";
import { startBroker } from "../testing/broker.js";
import { LAMP, REBOOT, SET_VOLUME, WireDevice, type WireDeviceOptions } from "../testing/gateway.js";
import { type StartedProgram, startProgram } from "../testing/program.js";

// Home Assistant's view of the broker, and its commands.

const KEY = keyOf(LAMP);
const CONFIG = `homeassistant/device/xs_mcp_${KEY}/config`;
const AVAILABILITY = `xs-mcp-gateway/${KEY}/availability`;
const STATE = `xs-mcp-gateway/${KEY}/state`;

const anything = { type: "object", properties: {} };
const GET_STATUS = {
	name: "self.get_device_status",
	inputSchema: anything,
	annotations: { readOnlyHint: true },
};
const SET_LIGHT = { name: "self.light.set", inputSchema: anything };
const TOOLS = [GET_STATUS, SET_VOLUME, SET_LIGHT, REBOOT];

/** A broker, a client of it that keeps every message, and a gateway that shows its devices there. */
async function start(t: TestContext, settings: Parameters<typeof startProgram>[1] = {}) {
	const homeAssistant = await startBroker(t);
	const client = await mqtt.connectAsync(homeAssistant);
	t.after(() => client.endAsync(true));
	const messages = listen(client);
	await client.subscribeAsync("#");
	const started = await startProgram(t, { homeAssistant, ...settings });
	return { started, homeAssistant, client, messages };
}

function listen(client: MqttClient): Map<string, string> {
	const messages = new Map<string, string>();
	client.on("message", (topic, payload) => void messages.set(topic, payload.toString()));
	return messages;
}

/** A device with a status that its tools change. */
async function connect(t: TestContext, { gateway, deviceUrl }: StartedProgram, more: WireDeviceOptions = {}) {
	const status = {
		audio_speaker: { volume: 70 },
		battery: { level: 80, charging: false },
		lights: { led: { on: true, brightness: 50, color: "#ff8000" }, lamp: { title: "Lamp at the door", on: false } },
		sensors: {
			air: { kind: "temperature", value: 21.5, unit: "°C" },
			room: { kind: "light", value: 640, unit: "counts" },
			tilt: { kind: "motion", value: { x: 0, y: 9.8 }, unit: "m/s²" },
			"}} {{ 1": { kind: "temperature", value: 1, unit: "°C" },
		},
	};
	const device = await WireDevice.connect(
		t,
		{ gateway, deviceUrl },
		{
			tools: TOOLS,
			onCall: ({ name, arguments: args }) => {
				if (name === SET_VOLUME.name) {
					status.audio_speaker.volume = args.volume as number;
				} else if (name === SET_LIGHT.name) {
					status.lights.led = { ...status.lights.led, ...args };
				}
				const text = name === GET_STATUS.name ? JSON.stringify(status) : "true";
				return { content: [{ type: "text", text }], isError: false };
			},
			...more,
		},
	);
	return { device, status };
}

/** The same, when Home Assistant has discovered that device. */
async function startDiscovered(
	t: TestContext,
	more: WireDeviceOptions = {},
	settings: Parameters<typeof start>[1] = {},
) {
	const opened = await start(t, settings);
	const connected = await connect(t, opened.started, more);
	await until(() => opened.messages.has(CONFIG) && opened.messages.has(STATE), "discovered");
	return { ...opened, ...connected };
}

const itDiscovered = testWith(startDiscovered);

function parse(messages: ReadonlyMap<string, string>, topic: string) {
	return JSON.parse(messages.get(topic) || "{}");
}

describe("Home Assistant", () => {
	itDiscovered("finds a device with an entity for each of its parts", async ({ messages }) => {
		const { device, origin, availability, components } = parse(messages, CONFIG);
		assert.deepEqual([device.name, device.model, origin.name], ["lamp_000001", "lamp", "xs-mcp-gateway"]);
		assert.deepEqual(
			availability.map(({ topic }: { topic: string }) => messages.get(topic)),
			["online", "online"],
		);
		assert.deepEqual(Object.keys(components).sort(), [
			"battery",
			"light_lamp",
			"light_led",
			"sensor_air",
			"sensor_room",
			"sensor_tilt_x",
			"sensor_tilt_y",
			"state",
			"volume",
		]);
		const { sensor_air: air, sensor_room: room, light_led: led, light_lamp: lamp, volume } = components;
		assert.deepEqual([air.device_class, air.unit_of_measurement], ["temperature", "°C"]);
		assert.deepEqual([room.device_class, room.unit_of_measurement], [undefined, "counts"]);
		assert.deepEqual([led.schema, led.supported_color_modes, led.brightness_scale], ["json", ["rgb"], 100]);
		assert.deepEqual(
			[lamp.name, lamp.supported_color_modes, lamp.brightness],
			["Lamp at the door", ["onoff"], undefined],
		);
		assert.deepEqual([volume.platform, volume.min, volume.max], ["number", 0, 100]);
		assert.equal(air.value_template, "{{ value_json['sensor_air'] }}");
		const state = parse(messages, STATE);
		assert.deepEqual([state.battery, state.volume, state.sensor_air], [80, 70, 21.5]);
		assert.deepEqual(parse(messages, led.state_topic), {
			state: "ON",
			color_mode: "rgb",
			brightness: 50,
			color: { r: 255, g: 128, b: 0 },
		});
	});

	it("finds switches, contacts and the several values of a sensor, with their device classes and titles", async (t) => {
		const { started, messages, client } = await start(t);
		const status = {
			switches: { pump: { title: "Water pump", on: false, max_seconds: 30 }, "}} {{": { on: true } },
			sensors: {
				door: { title: "Front door", kind: "door", value: true },
				soil: { kind: "moisture", value: 40, unit: "%" },
				air: {
					kind: "combined",
					value: { temperature: 21, co2: 700, ok: true },
					unit: { temperature: "°C", co2: "ppm" },
				},
			},
		};
		const calls: object[] = [];
		const tools = [...TOOLS, { name: "self.switch.set", inputSchema: anything }];
		const onCall: WireDeviceOptions["onCall"] = ({ name, arguments: args }) => {
			if (name === "self.switch.set") {
				calls.push(args);
				status.switches.pump.on = args.on as boolean;
			}
			return { content: [{ type: "text", text: name === GET_STATUS.name ? JSON.stringify(status) : "true" }] };
		};
		const { device } = await connect(t, started, { tools, onCall });
		await until(() => messages.has(CONFIG) && messages.has(STATE), "discovered");
		const { components } = parse(messages, CONFIG);
		assert.deepEqual(Object.keys(components).sort(), [
			"sensor_air_co2",
			"sensor_air_ok",
			"sensor_air_temperature",
			"sensor_door",
			"sensor_soil",
			"state",
			"switch_pump",
		]);
		const { switch_pump: pump, sensor_door: door, sensor_soil: soil, sensor_air_co2: co2 } = components;
		assert.deepEqual([pump.platform, pump.name], ["switch", "Water pump"]);
		assert.deepEqual([door.platform, door.device_class, door.name], ["binary_sensor", "door", "Front door"]);
		assert.deepEqual([soil.platform, soil.device_class], ["sensor", "moisture"]);
		assert.deepEqual([co2.device_class, co2.unit_of_measurement], ["carbon_dioxide", "ppm"]);
		const state = parse(messages, STATE);
		assert.deepEqual([state.switch_pump, state.sensor_door, state.sensor_air_temperature], ["OFF", "ON", 21]);
		await client.publishAsync(pump.command_topic, "ON");
		await until(() => parse(messages, STATE).switch_pump === "ON", "on");
		assert.deepEqual(calls, [{ name: "pump", on: true }]);
		await client.publishAsync(pump.command_topic, "TOGGLE");
		await until(() => /expected ON or OFF/.test(started.log()), "rejected");
		device.notify("notifications/sensor_changed", { sensor: "door", kind: "door", value: false });
		await until(() => parse(messages, STATE).sensor_door === "OFF", "closed");
		status.switches.pump.on = false;
		device.notify("notifications/switch_changed", { switch: "pump", on: false, cause: "limit" });
		await until(() => parse(messages, STATE).switch_pump === "OFF", "off by itself");
	});

	it("is told of states, sensors, what other clients change, and of a device that goes offline", async (t) => {
		const { started, messages, device } = await startDiscovered(t);
		device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
		device.notify("notifications/sensor_changed", { sensor: "air", kind: "temperature", value: 23, unit: "°C" });
		await until(() => parse(messages, STATE).state === "speaking", "the state");
		await until(() => parse(messages, STATE).sensor_air === 23, "the sensor");
		const server = started.gateway.servers.find(LAMP);
		const tool = server?.tools.find(({ name }) => name === SET_VOLUME.name);
		assert.ok(server && tool);
		await server.call(tool, { volume: 12 }, { principal: "somebody" });
		await until(() => parse(messages, STATE).volume === 12, "the volume");
		await device.unplug();
		await until(() => messages.get(AVAILABILITY) === "offline", "offline");
	});

	it("reads a status again after changes during a read, and never twice at the same time", async (t) => {
		const { started, messages } = await start(t);
		const reads: number[] = [];
		const { device } = await connect(t, started, {
			onCall: ({ id }) => {
				reads.push(id);
				return undefined;
			},
		});
		for (let round = 1; round <= 3; round += 1) {
			await until(() => reads.length === round, "read");
			device.notify("notifications/state_changed", { oldState: "idle", newState: `state${round}` });
			await until(() => started.gateway.servers.find(LAMP)?.state === `state${round}`, "the state has arrived");
			const content = [{ type: "text", text: JSON.stringify({ audio_speaker: { volume: round } }) }];
			assert.equal(reads.length, round);
			device.answer(reads.at(-1) as number, { content, isError: false });
			await until(() => parse(messages, STATE).volume === round, "the volume");
		}
	});

	it("moves a servo within its own range, whose angle is unknown until it was moved", async (t) => {
		const servos = { arm: { title: "Arm", min: 10, max: 120 } as { angle?: number } };
		const { messages, client } = await startDiscovered(t, {
			tools: [...TOOLS, { name: "self.servo.move", inputSchema: anything }],
			onCall: ({ name, arguments: { angle } }) => {
				if (name === "self.servo.move") {
					servos.arm.angle = angle as number;
				}
				return { content: [{ type: "text", text: JSON.stringify({ servos }) }], isError: false };
			},
		});
		const { platform, name, min, max, command_topic } = parse(messages, CONFIG).components.servo_arm;
		assert.deepEqual([platform, name, min, max], ["number", "Arm", 10, 120]);
		assert.equal(parse(messages, STATE).servo_arm, null);
		client.publish(command_topic, "45.5");
		await until(() => parse(messages, STATE).servo_arm === 45.5, "moved");
	});

	itDiscovered("sets the volume and lights of a device", async ({ client, messages, device, status }) => {
		const { volume, light_led: led } = parse(messages, CONFIG).components;
		client.publish(volume.command_topic, "30");
		await until(() => parse(messages, STATE).volume === 30, "the volume");
		assert.equal(status.audio_speaker.volume, 30);
		client.publish(led.command_topic, JSON.stringify({ state: "ON", brightness: 20, color: { r: 0, g: 10, b: 255 } }));
		await until(() => parse(messages, led.state_topic).brightness === 20, "the light");
		const { arguments: args } = device.calls.find(({ name }) => name === SET_LIGHT.name) ?? {};
		assert.deepEqual(args, { light: "led", on: true, brightness: 20, color: "#000aff" });
	});

	itDiscovered("no longer retains the state of a light that was renamed", async ({ messages, device, status }) => {
		const topic = parse(messages, CONFIG).components.light_led.state_topic;
		await until(() => messages.has(topic), "its state is retained");
		const { led, ...lights } = status.lights;
		Object.assign(status, { lights: { ...lights, desk: led } });
		device.notify("notifications/state_changed", { newState: "idle", oldState: "speaking" });
		await until(() => parse(messages, CONFIG).components.light_desk !== undefined, "the new name");
		await until(() => !messages.get(topic), "the old state is forgotten");
	});

	it("has a text said on a device, if the gateway has a voice", async (t) => {
		const { started, client, messages } = await start(t, { speechCommand: "true" });
		const screen = { name: "self.screen.show_text", inputSchema: anything };
		const { device } = await connect(t, started, { tools: [GET_STATUS, screen] });
		await until(() => messages.has(CONFIG), "discovered");
		const { platform, command_topic: topic } = parse(messages, CONFIG).components.announce;
		assert.equal(platform, "notify");
		client.publish(topic, "Dinner is ready");
		await until(() => device.calls.some(({ name }) => name === screen.name), "the text is shown");
		assert.deepEqual(device.calls.at(-1)?.arguments, { text: "Dinner is ready" });
	});

	itDiscovered("has wrong commands logged, which do nothing", async ({ started, client, messages, device }) => {
		const base = `xs-mcp-gateway/${KEY}`;
		const wrong = [
			[`${base}/volume/set`, "loud", /expected a number from 0 to 100/],
			[`${base}/volume/set`, "101", /volume: must be <= 100/],
			[`${base}/volume/set`, "1".repeat(2_000), /too long/],
			[`${base}/light-led/set`, '{"state":"PERHAPS"}', /expected a command for a light/],
			[`${base}/brightness/set`, "50", /has no tool self\.screen\.set_brightness/],
			[`${base}/reboot/set`, "", /unknown part/],
			[`${base}/announce/set`, "hello", /unknown part/],
			["xs-mcp-gateway/0000/volume/set", "50", /unknown device/],
		] as const;
		for (const [topic, payload, expected] of wrong) {
			client.publish(topic, payload);
			await until(() => expected.test(started.log()), `${topic} is rejected`);
		}
		assert.deepEqual([...new Set(device.calls.map(({ name }) => name))], [GET_STATUS.name]);
		assert.equal(parse(messages, STATE).volume, 70);
	});

	itDiscovered("forgets a device that the gateway forgets", async ({ started, homeAssistant, messages, device }, t) => {
		await device.unplug();
		await until(() => messages.get(AVAILABILITY) === "offline", "offline");
		await started.gateway.servers.forget(LAMP);
		const empty = (): boolean => [CONFIG, AVAILABILITY, STATE].every((topic) => messages.get(topic) === "");
		await until(empty, "removed");
		const later = await mqtt.connectAsync(homeAssistant);
		t.after(() => later.endAsync(true));
		const retained = listen(later);
		await later.subscribeAsync("#");
		later.publish("end", "");
		await until(() => retained.has("end"), "everything retained has come");
		assert.deepEqual(
			[...retained.keys()].filter((topic) => topic.includes(KEY)),
			[],
		);
	});

	it("shows a device whose status cannot be read, with its state", async (t) => {
		const { started, messages } = await start(t);
		await connect(t, started, { tools: [SET_VOLUME] });
		await until(() => messages.has(CONFIG), "discovered");
		assert.deepEqual(Object.keys(parse(messages, CONFIG).components), ["state"]);
	});

	it("shows every device as unavailable when the gateway stops, and gets a new name of one", async (t) => {
		const { started, messages } = await startDiscovered(t);
		await started.gateway.servers.edit(LAMP, { alias: "kitchen" });
		await until(() => parse(messages, CONFIG).device.name === "kitchen", "renamed");
		const [{ topic }] = parse(messages, CONFIG).availability;
		await started.gateway.close();
		await until(() => messages.get(topic) === "offline", "unavailable");
	});
});

describe("Home Assistant's broker", () => {
	it("gets everything, even if it begins later than the gateway and rejects it first", async (t) => {
		const port = await freePort();
		const settings = { homeAssistant: `mqtt://maker@127.0.0.1:${port}`, homeAssistantPassword: "secret" };
		const started = await startProgram(t, settings);
		const { device } = await connect(t, started);
		await until(() => device.calls.length > 0, "the status is read");
		let rejected = 0;
		const broker = await startBroker(t, port, {
			authenticate: (_client, username, password, done) => {
				const isRight = rejected > 0 && username === "maker" && password?.toString() === "secret";
				rejected += isRight ? 0 : 1;
				done(null, isRight);
			},
		});
		await until(
			() => /Home Assistant's broker: Connection refused: Not authorized/.test(started.log()),
			"rejected once",
		);
		const client = await mqtt.connectAsync(broker, { username: "maker", password: "secret" });
		t.after(() => client.endAsync(true));
		const messages = listen(client);
		await client.subscribeAsync("#");
		await until(() => messages.has(CONFIG) && messages.has(STATE), "discovered");
	});

	itDiscovered("does not repeat a command that it retains", async ({ started, homeAssistant, client, device }, t) => {
		await started.gateway.close();
		await client.publishAsync(`xs-mcp-gateway/${KEY}/volume/set`, "5", { retain: true });
		const again = await startProgram(t, { homeAssistant }, started.stateFolder);
		await until(() => /retained command rejected/.test(again.log()), "rejected");
		assert.ok(device.calls.every(({ name }) => name === GET_STATUS.name));
	});
});
