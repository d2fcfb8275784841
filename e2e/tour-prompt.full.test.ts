import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { it } from "node:test";
import { Program, typeScript } from "../host-test/support/program.js";
import { temporaryFolder } from "../host-test/support/testing.js";
import { start } from "./start-tour.js";

it("npm start, told to end, leaves no folder, whether it is told once or, as by a terminal and by npm, twice", async (_t) => {
	const folder = temporaryFolder("xs-mcp-tour-");
	for (const signals of [["SIGHUP"], ["SIGTERM", "SIGTERM"]] as const) {
		const program = await Program.start(
			typeScript("examples/tour/main.ts", "--engine", "v8", "--port", "0", "--http-port", "0"),
			(output) => output.includes("The client calls the device's tools"),
			{ env: { TMPDIR: folder } },
		);
		assert.equal(readdirSync(folder).length, 1);
		await Promise.all(signals.map((signal) => program.stop(signal)));
		assert.equal(await program.ended(), 0);
		assert.deepEqual(readdirSync(folder), []);
	}
});

it("several of npm start find ports of their own when they start at the same moment", async () => {
	const tour = typeScript("examples/tour/main.ts", "--engine", "v8", "--once");
	const programs = await Promise.all(Array.from({ length: 4 }, () => Program.start(tour, () => true)));
	assert.deepEqual(await Promise.all(programs.map((program) => program.ended())), [0, 0, 0, 0]);
});

it("the flags of npm start are named if they make no sense, without a stack", () => {
	for (const [args, problem] of [
		[["--transports"], /unknown option '--transports'\n\(Did you mean --transport\?\)/],
		[["--broker", "mqtt://127.0.0.1/"], /--broker needs --transport mqtt/],
		[["--broker", "http://127.0.0.1/"], /'http:\/\/127\.0\.0\.1\/' is invalid\. Expected a URL like mqtt/],
		[["--http-port", "70000"], /Expected a port from 0 to 65535/],
		[["--engine", "v9"], /Allowed choices are xs, v8/],
	] as const) {
		const { status, stderr } = start("", ...args);
		assert.match(stderr, problem);
		assert.doesNotMatch(stderr, /^ +at /m);
		assert.equal(status, 2);
	}
});
