import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { Program } from "../host-test/support/program.js";
import { until } from "../host-test/support/testing.js";
import { ENGINE, startDevice } from "./fixtures.js";

const PROGRAM = fileURLToPath(new URL("../examples/backend.mjs", import.meta.url));

it("examples/backend.mjs lists a device's tools, calls one, and has it show a text", async (t) => {
	const backend = await Program.start([PROGRAM, "0"], (output) => /ws:\S+/.test(output));
	t.after(() => backend.stop());
	await startDevice(t, ENGINE, { config: { backend: backend.said(/(ws:\S+)/) } });
	await until(() => /answers \{.*"volume":/.test(backend.output), "the device has answered");
	assert.match(backend.output, /has self\.get_device_status, .*self\.audio_speaker\.set_volume/);
	await until(
		() => /says notifications\/said .*Hello from the backend/.test(backend.output),
		"the device shows the text",
	);
});
