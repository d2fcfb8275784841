import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "xs-mcp/root";
import { callTool } from "../support/call-tool.js";
import { noSdk } from "../support/sdk.js";
import { until } from "../support/testing.js";
import { startSimulatorOnline } from "./start-simulator.js";

/** Position of the first device's button in the simulator's window, in pixels. */
const BUTTON = ["159", "66"];

const hasXdotool = spawnSync("xdotool", ["version"]).error === undefined;
const skip = noSdk || (!hasXdotool && "xdotool is not installed");

it("a press of the button of the simulator's device makes it listen, and the light is set through the gateway", {
	skip,
}, async (t) => {
	const { simulator, server: device } = await startSimulatorOnline(t, ROOT);
	const mouse = (...args: string[]): void => {
		const env = { ...process.env, DISPLAY: simulator.display };
		assert.equal(spawnSync("xdotool", args, { env }).status, 0, args.join(" "));
	};
	await until(() => device.state === "idle", "the device is in a session");
	mouse("mousemove", ...BUTTON);
	mouse("mousedown", "1");
	await delay(200);
	mouse("mouseup", "1");
	await until(() => device.state === "listening", "the device listens");
	const { milliseconds, ...press } = (device.event?.params ?? {}) as { milliseconds?: number };
	assert.deepEqual(press, { button: "button", long: false });
	assert.ok(Number(milliseconds) > 0);
	await callTool(device.connection, "self.light.set", { on: true });
	const status = await callTool(device.connection, "self.get_device_status");
	assert.deepEqual((status as { structuredContent?: { lights?: unknown } }).structuredContent?.lights, {
		led: { on: true },
	});
});
