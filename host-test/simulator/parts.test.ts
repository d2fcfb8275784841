import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { callTool } from "../support/call-tool.js";
import { noSdk } from "../support/sdk.js";
import { PARTS_PANEL, type Simulator } from "../support/simulator.js";
import { startSimulatorOnline } from "../support/start-simulator.js";
import { until } from "../support/until.js";

const PUMP = fileURLToPath(new URL("../../examples/pump", import.meta.url));

const BOSCH = fileURLToPath(new URL("../fixtures/sdk-bosch", import.meta.url));

/** Where the panel has the switch of its last row, the door, in pixels. */
const DOOR = ["144", "156"];

/** Where it has the right end of its first slider, a temperature. */
const HOT = ["262", "96"];

function click({ display }: Simulator, place: readonly string[]): void {
	const env = { ...process.env, DISPLAY: display };
	const args = ["mousemove", ...place, "click", "1"];
	assert.equal(spawnSync("xdotool", args, { env }).status, 0, args.join(" "));
}

const hasXdotool = spawnSync("xdotool", ["version"]).error === undefined;
const skip = noSdk || (!hasXdotool && "xdotool is not installed");

describe("parts of one's own in the simulator", { skip }, () => {
	it("are called through the gateway, and set in its panel", async (t) => {
		const { simulator, server: device } = await startSimulatorOnline(t, PUMP, { devices: PARTS_PANEL });
		await until(() => device.state === "idle", "the device is in a session");
		const { structuredContent } = (await callTool(device.session, "self.switch.set", { name: "pump", on: true })) as {
			structuredContent?: { on?: boolean };
		};
		assert.equal(structuredContent?.on, true);
		click(simulator, DOOR);
		await until(() => device.event?.params?.sensor === "door", "the door is told");
		assert.deepEqual(device.event?.params, { sensor: "door", kind: "opening", value: false });
	});

	it("are chips on a bus, which the SDK's drivers in C read, and sliders in its panel", async (t) => {
		const { simulator, server: device } = await startSimulatorOnline(t, BOSCH, { devices: PARTS_PANEL });
		await until(() => device.state === "idle", "the device is in a session");
		const sensors = async () => {
			const { structuredContent } = (await callTool(device.session, "self.get_device_status")) as {
				structuredContent: { sensors: Record<string, { value?: Record<string, number>; error?: string }> };
			};
			return structuredContent.sensors;
		};
		const { weather, room } = await sensors();
		assert.deepEqual(weather?.value?.temperature, 21.5, JSON.stringify(weather));
		assert.deepEqual([room?.value?.temperature, room?.value?.humidity], [21.5, 45], JSON.stringify(room));
		click(simulator, HOT);
		await until(async () => ((await sensors()).weather?.value?.temperature ?? 0) > 60, "the temperature is set");
	});
});
