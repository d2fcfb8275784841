import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WireDevice, type WireDeviceOptions } from "xs-mcp-gateway/testing/gateway";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { until } from "../host-test/support/testing.js";
import { complaintsOf, LAMP, openConsole, openWithDevice, startWithConsole, VOLUME } from "./console-page.js";
import { bundleManifest, ENGINE, OWN_BOARD, startDevice } from "./fixtures.js";

const SETS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };
const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const NO_INPUT = { type: "object", properties: {} };

const STATUS_TOOL = { name: "self.get_device_status", inputSchema: NO_INPUT, annotations: READS };

const LIGHT = {
	name: "self.light.set",
	inputSchema: {
		type: "object",
		properties: {
			light: { type: "string" },
			on: { type: "boolean" },
			brightness: { type: "integer", minimum: 0, maximum: 100 },
			color: { type: "string", description: "The colour as #rrggbb" },
		},
	},
	annotations: SETS,
};

const SERVO = {
	name: "self.servo.move",
	inputSchema: {
		type: "object",
		properties: { name: { type: "string" }, angle: { type: "number", minimum: 0, maximum: 360 } },
		required: ["name", "angle"],
	},
	annotations: SETS,
};

/** A device whose tools set a light, and report it. */
const withLight = (light: object): WireDeviceOptions => ({
	tools: [STATUS_TOOL, LIGHT],
	onCall: ({ name, arguments: { light: _, ...changed } }) => {
		if (name === LIGHT.name) {
			Object.assign(light, changed);
		}
		return { content: [{ type: "text", text: JSON.stringify({ lights: { led: light } }) }], isError: false };
	},
});

const pump = await bundleManifest("examples/pump/manifest.json");

describe("the controls and readings of a device in Chromium", { skip: whyNoChromium }, () => {
	it("switches, dims and colours a light, each with one tap, and shows what the device says", async (t) => {
		const light = { on: false, brightness: 50, color: "#ffffff" };
		const { device, page } = await openWithDevice(t, withLight(light));
		const lastLight = () => device.calls.filter(({ name }) => name === LIGHT.name).at(-1)?.arguments;
		await page.locator(".row .name a").click();
		await page.getByRole("switch", { name: "Light" }).click();
		await page.getByRole("switch", { name: "Light", checked: true }).waitFor();
		assert.deepEqual(lastLight(), { light: "led", on: true });
		await page.getByRole("slider", { name: "Light: Brightness" }).fill("80");
		await until(() => lastLight()?.brightness === 80, "dimmed");
		const field = page.getByRole("spinbutton", { name: "Light: Brightness" });
		await until(async () => (await field.inputValue()) === "80", "the number beside the slider follows");
		await field.fill("130");
		await field.blur();
		await page.getByRole("alert").getByText("100").waitFor();
		await field.fill("30");
		await field.blur();
		await until(() => lastLight()?.brightness === 30, "dimmed by the number");
		await page.getByLabel("Light: Colour").fill("#ff8000");
		await until(() => lastLight()?.color === "#ff8000", "coloured");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("says once why a number in a tool's form is invalid", async (t) => {
		const { page } = await openWithDevice(t, { tools: [VOLUME] });
		await page.locator(".row .name a").click();
		await page.locator(".tool summary").click();
		const field = page.locator(".tool").getByRole("spinbutton", { name: "volume" });
		await field.fill("130");
		await field.blur();
		await page.getByRole("alert").first().getByText("100").waitFor();
		assert.equal(await page.getByRole("alert").count(), 1);
	});

	it("shows what another client sets, and what the device does by itself", async (t) => {
		const light = { on: false };
		const { gateway, device, page } = await openWithDevice(t, withLight(light));
		await page.locator(".row .name a").click();
		const lamp = (checked: boolean) => page.getByRole("switch", { name: "Light", checked }).waitFor();
		await lamp(false);
		const server = gateway.gateway.servers.find(LAMP);
		const tool = server?.tools.find(({ name }) => name === LIGHT.name);
		assert.ok(server && tool);
		await server.call(tool, { on: true }, { principal: "other" });
		await lamp(true);
		light.on = false;
		device.notify("notifications/state_changed", { oldState: "idle", newState: "listening" });
		await lamp(false);
		const reads = () => device.calls.filter(({ name }) => name === STATUS_TOOL.name).length;
		const before = reads();
		await server.call(server.tools[0] as typeof tool, {}, { principal: "other" });
		light.on = true;
		await server.call(tool, {}, { principal: "other" });
		await lamp(true);
		assert.equal(reads(), before + 2, "a status that another client reads is not read again");
	});

	it("starts with rooms, in which a light is switched and a reading follows", async (t) => {
		const status = {
			lights: { led: { on: false } },
			sensors: { air: { kind: "temperature", value: 20, unit: "°C" } },
		};
		const { gateway, device, page } = await openWithDevice(t, {
			tools: [STATUS_TOOL, LIGHT],
			onCall: ({ name }) => {
				status.lights.led.on ||= name === LIGHT.name;
				return { content: [{ type: "text", text: JSON.stringify(status) }], isError: false };
			},
		});
		await gateway.gateway.servers.edit(LAMP, { title: "キッチンのライト", tags: ["厨房"] });
		await page.goto(`${gateway.base}/#/home`);
		const room = page.getByRole("region", { name: "厨房" });
		await room.getByRole("link", { name: "キッチンのライト" }).waitFor();
		await room.getByText("20.0 °C").waitFor();
		device.notify("notifications/sensor_changed", { sensor: "air", kind: "temperature", value: 21, unit: "°C" });
		await room.getByText("21.0 °C").waitFor();
		await room.getByRole("switch", { name: "Light" }).click();
		await room.getByRole("switch", { name: "Light", checked: true }).waitFor();
		await until(() => status.lights.led.on, "the device has switched its light");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows the readings of the first device, which connects while the start page is open", async (t) => {
		const gateway = await startWithConsole(t, { userTools: ["*"] });
		const page = await openConsole(t, gateway.base);
		await page.goto(`${gateway.base}/#/home`);
		await page.getByRole("heading", { name: "No device yet" }).waitFor();
		const status = { sensors: { air: { kind: "temperature", value: 20, unit: "°C" } } };
		const onCall = () => ({ content: [{ type: "text", text: JSON.stringify(status) }], isError: false });
		await WireDevice.connect(t, gateway, { id: LAMP, tools: [STATUS_TOOL], onCall });
		await page.getByText("20.0 °C").waitFor();
	});

	it("says at a control why the device refused, and shows how it is", async (t) => {
		const { page } = await openWithDevice(t, {
			tools: [STATUS_TOOL, LIGHT],
			onCall: ({ name }) =>
				name === LIGHT.name
					? { content: [{ type: "text", text: "led: the pin is in use" }], isError: true }
					: { content: [{ type: "text", text: '{"lights":{"led":{"on":false}}}' }], isError: false },
		});
		await page.locator(".row .name a").click();
		await page.getByRole("switch", { name: "Light" }).click();
		await page.getByRole("group", { name: "Light" }).getByText("led: the pin is in use").waitFor();
		await page.getByRole("switch", { name: "Light", checked: false }).waitFor();
	});

	it("has the family's tools turn_on and turn_off as one choice, a servo in its own range, and a setting of unknown value", async (t) => {
		const tools = [
			{ name: "self.lamp.turn_on", inputSchema: NO_INPUT },
			{ name: "self.lamp.turn_off", inputSchema: NO_INPUT },
			SERVO,
			VOLUME,
			STATUS_TOOL,
		];
		const status = JSON.stringify({ servos: { arm: { title: "Gate", min: 10, max: 120 } } });
		const { device, page } = await openWithDevice(t, {
			tools,
			onCall: () => ({ content: [{ type: "text", text: status }], isError: false }),
		});
		await page.locator(".row .name a").click();
		const lamp = page.getByRole("group", { name: "Lamp" }).first();
		await lamp.getByRole("button", { name: "On" }).click();
		await until(() => device.calls.some(({ name }) => name === "self.lamp.turn_on"), "on");
		await lamp.getByRole("button", { name: "Off" }).click();
		await until(() => device.calls.some(({ name }) => name === "self.lamp.turn_off"), "off");
		const gate = page.getByRole("slider", { name: "Gate" });
		assert.deepEqual([await gate.getAttribute("min"), await gate.getAttribute("max")], ["10", "120"]);
		await gate.fill("90");
		await until(
			async () => (await page.getByRole("spinbutton", { name: "Gate" }).inputValue()) === "90",
			"the number follows",
		);
		await until(
			() => device.calls.some(({ arguments: args }) => args?.name === "arm" && args.angle === 90),
			"the servo is called by its name",
		);
		assert.equal(await page.getByRole("spinbutton", { name: "Volume" }).inputValue(), "");
	});

	it("shows readings with names, units and decimals of their kinds, in the page's language", async (t) => {
		const status = {
			sensors: {
				temperature: { kind: "temperature", value: 21.456, unit: "°C" },
				motion: { kind: "motion", value: { x: -0.01, z: 9.81234 }, unit: "m/s²" },
				back_door: { kind: "door", value: true },
				air: {
					kind: "combined",
					value: { pressure: 101_325, humidity: 40.4 },
					unit: { pressure: "Pa", humidity: "%" },
				},
				soil: { kind: "moisture", error: "no answer" },
			},
			battery: { level: 87.6, charging: false },
			network: { type: "wifi", ssid: "home", signal: "weak" },
			uptime: 1_234_567,
		};
		const answer = () => ({ content: [{ type: "text", text: JSON.stringify(status) }], isError: false });
		const seen: Record<string, string[]> = {};
		for (const locale of ["en-GB", "ja-JP"]) {
			const { page } = await openWithDevice(t, { tools: [STATUS_TOOL], onCall: answer }, { locale });
			await page.locator(".row .name a").click();
			await page.locator(".reading").first().waitFor();
			seen[locale] = (await page.locator(".reading, section .facts > span").allInnerTexts()).map((text) =>
				text.replaceAll(/\s+/g, " "),
			);
		}
		const inEnglish = seen["en-GB"] ?? [];
		for (const text of [
			"Temperature 21.5 °C",
			"Acceleration x 0.0 m/s²",
			"Acceleration z 9.8 m/s²",
			"Back door open",
			"Air Pressure 1,013.3 hPa",
			"Air Humidity 40 %",
			"Soil – no answer",
			"Battery 88 %",
			"Uptime 1,235,000",
			"Charging no",
			"Wi-Fi home",
			"Signal weak",
		]) {
			assert.ok(inEnglish.includes(text), `${text}: ${inEnglish.join("; ")}`);
		}
		assert.ok(seen["ja-JP"]?.includes("温度 21.5 °C"), seen["ja-JP"]?.join("; "));
	});

	it("follows a switch that switches itself off", async (t) => {
		const gateway = await startWithConsole(t);
		const options = { config: { backend: gateway.deviceUrl }, script: pump, board: OWN_BOARD };
		const { device } = await startDevice(t, ENGINE, options);
		const { servers } = gateway.gateway;
		await until(() => servers.find(device.macAddress)?.online === true, "online");
		const page = await openConsole(t, gateway.base);
		await page.getByRole("link", { name: /^esp32/ }).click();
		await page.getByRole("switch", { name: "Pump" }).click();
		await page.getByRole("switch", { name: "Pump", checked: true }).waitFor();
		await page.getByText(/^off in \d+ sec/).waitFor();
		const server = servers.find(device.macAddress);
		const tool = server?.tools.find(({ name }) => name === "self.switch.set");
		assert.ok(server && tool);
		await server.call(tool, { name: "pump", on: true, seconds: 0.2 }, { principal: "test" });
		await page.getByRole("switch", { name: "Pump", checked: false }).waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});
});
