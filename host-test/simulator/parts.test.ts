import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { callTool } from "../support/call-tool.js";
import { noSdk } from "../support/sdk.js";
import { PARTS_PANEL, type Simulator } from "../support/simulator.js";
import { until } from "../support/testing.js";
import { startSimulatorOnline } from "./start-simulator.js";

const PUMP = fileURLToPath(new URL("../../examples/pump", import.meta.url));

const AIR = fileURLToPath(new URL("../fixtures/air", import.meta.url));

/** Position of the switch in the panel's last row, the door, in pixels. */
const DOOR = ["144", "156"];

/** Position of the right end of its first slider, the humidity of the air. */
const HUMID = ["262", "96"];

function click({ display }: Simulator, place: readonly string[]): void {
	const env = { ...process.env, DISPLAY: display };
	const args = ["mousemove", ...place, "click", "1"];
	assert.equal(spawnSync("xdotool", args, { env }).status, 0, args.join(" "));
}

const hasXdotool = spawnSync("xdotool", ["version"]).error === undefined;

describe("parts of one's own in the simulator", { skip: noSdk }, () => {
	it("are called through the gateway, and set in its panel", {
		skip: !hasXdotool && "xdotool is not installed",
	}, async (t) => {
		const { simulator, server: device } = await startSimulatorOnline(t, PUMP, { devices: PARTS_PANEL });
		await until(() => device.state === "idle", "the device is in a session");
		const { structuredContent } = (await callTool(device.connection, "self.switch.set", {
			name: "pump",
			on: true,
		})) as {
			structuredContent?: { on?: boolean };
		};
		assert.equal(structuredContent?.on, true);
		click(simulator, DOOR);
		await until(() => device.event?.params?.sensor === "door", "the door is told");
		assert.deepEqual(device.event?.params, { sensor: "door", kind: "opening", value: false });
	});

	it("are sensors of the SDK's drivers, with sliders in its panel", async (t) => {
		const { simulator, server: device } = await startSimulatorOnline(t, AIR, { devices: PARTS_PANEL });
		await until(() => device.state === "idle", "the device is in a session");
		const read = async (sensor: string) => {
			const { structuredContent } = (await callTool(device.connection, "self.get_device_status")) as {
				structuredContent: { sensors: Record<string, { value?: Record<string, number>; error?: string }> };
			};
			return structuredContent.sensors[sensor]?.value;
		};
		assert.deepEqual(await read("air"), { temperature: 21.5, humidity: 45 });
		assert.deepEqual(await read("room"), { temperature: 21.5, humidity: 45, pressure: 101_325 });
		if (hasXdotool) {
			click(simulator, HUMID);
			await until(async () => ((await read("air"))?.humidity ?? 0) > 90, "the humidity is set");
		}
	});
});
