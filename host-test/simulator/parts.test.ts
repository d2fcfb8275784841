import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { nextOnline, startGateway } from "../../gateway/test/support/gateway.js";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { PARTS_PANEL, Simulator } from "../../scripts/moddable/simulator.js";
import { callTool } from "../support/call-tool.js";
import { until } from "../support/until.js";

const PUMP = fileURLToPath(new URL("../../examples/pump", import.meta.url));

/** Where the panel has the switch of its last row, the door, in pixels. */
const DOOR = ["144", "156"];

const sdk = findSdk();
const hasXdotool = spawnSync("xdotool", ["version"]).error === undefined;
const skip = sdk === undefined ? NO_SDK : !hasXdotool && "xdotool is not installed";

describe("parts of one's own in the simulator", { skip }, () => {
	it("are called through the gateway, and set in its panel", async (t) => {
		const side = await startGateway(t);
		const library = await buildForSimulator(sdk as Sdk, PUMP, [`backend=${side.deviceUrl}`]);
		const online = nextOnline(side.gateway.servers);
		const simulator = await Simulator.start(sdk as Sdk, library, { headless: true, devices: PARTS_PANEL });
		t.after(() => simulator.stop());
		const device = await online;
		await until(() => device.state === "idle", "the device is in a session");
		const { structuredContent } = (await callTool(device.session, "self.switch.set", { name: "pump", on: true })) as {
			structuredContent?: { on?: boolean };
		};
		assert.equal(structuredContent?.on, true);
		const env = { ...process.env, DISPLAY: simulator.display };
		for (const args of [
			["mousemove", ...DOOR],
			["click", "1"],
		]) {
			assert.equal(spawnSync("xdotool", args, { env }).status, 0, args.join(" "));
		}
		await until(() => device.event?.params?.sensor === "door", "the door is told");
		assert.deepEqual(device.event?.params, { sensor: "door", kind: "opening", value: false });
	});
});
