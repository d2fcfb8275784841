import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../support/until.js";
import { ENGINE, startDevice } from "./fixtures.js";

const PROGRAM = fileURLToPath(new URL("../../examples/backend.mjs", import.meta.url));

it("examples/backend.mjs lists a device's tools, calls one, and has it show a text", async (t) => {
	const backend = spawn(process.execPath, [PROGRAM, "0"]);
	t.after(() => backend.kill());
	let output = "";
	for (const stream of [backend.stdout, backend.stderr]) {
		stream.on("data", (chunk) => {
			output += chunk;
		});
	}
	const url = (): string | undefined => /ws:\S+/.exec(output)?.[0];
	await until(() => url() !== undefined, "it listens");
	await startDevice(t, ENGINE, { config: { backend: url() as string } });
	await until(() => /answers \{.*"volume":/.test(output), "the device has answered");
	assert.match(output, /has self\.get_device_status, .*self\.audio_speaker\.set_volume/);
	await until(() => /says notifications\/said .*Hello from the backend/.test(output), "the device shows the text");
});
