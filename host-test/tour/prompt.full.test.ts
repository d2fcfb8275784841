import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Program, typeScript } from "../e2e/program.js";
import { start } from "./start.js";

describe("the prompt of npm start", () => {
	it("presses the button of a device, and sets its sensors", () => {
		const commands = ["press", "measure temperature 30.5", "measure motion 0 9.8 0", "call self.sensor.read", "quit"];
		const { status, stdout } = start(`${commands.join("\n")}\n`, "--transport", "websocket", "--engine", "v8");
		assert.match(stdout, /sensor_changed/);
		assert.match(stdout, /30\.5/);
		assert.match(stdout, /"y": ?9\.8/);
		assert.equal(status, 0);
		const wrong = start(
			"press soon\nmeasure mood 1\nmeasure motion 1\nquit\n",
			"--transport",
			"websocket",
			"--engine",
			"v8",
		);
		assert.match(wrong.stdout, /Expected milliseconds, from 1 to 60000/);
		assert.match(wrong.stdout, /mood: expected temperature, light or motion/);
		assert.match(wrong.stdout, /motion: expected three numbers, along x, y and z/);
		assert.equal(wrong.status, 1);
	});

	it("reports unknown commands, and fails", () => {
		const { status, stdout } = start(
			"list\nhelp\nsay hello\nlst\ncall self.screen.set_them\ncall self.screen.set_theme colour=red\n",
			"--transport",
			"websocket",
			"--engine",
			"v8",
		);
		assert.match(stdout, /^ +self\.light\.set +\(/m);
		assert.match(stdout, /^ +Usage: COMMAND$/m);
		assert.match(stdout, /^ +say <text\.\.\.> /m);
		assert.doesNotMatch(stdout, /unknown command 'say'/);
		assert.match(stdout, /unknown command 'lst'[\s\S]*Did you mean list\?/);
		assert.match(stdout, /self\.screen\.set_them: unknown tool: did you mean self\.screen\.set_theme\?/);
		assert.match(stdout, /colour: unknown argument; the tool takes theme/);
		assert.equal(status, 1);
	});
});

describe("npm start, told to end", () => {
	it("leaves no folder, whether it is told once or, as by a terminal and by npm, twice", async (t) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-tour-"));
		t.after(() => rmSync(folder, { recursive: true }));
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
});

describe("several of npm start", () => {
	it("find ports of their own when they start at the same moment", async () => {
		const tour = typeScript("examples/tour/main.ts", "--engine", "v8", "--once");
		const programs = await Promise.all(Array.from({ length: 4 }, () => Program.start(tour, () => true)));
		assert.deepEqual(await Promise.all(programs.map((program) => program.ended())), [0, 0, 0, 0]);
	});
});

describe("the flags of npm start", () => {
	it("are named if they make no sense, without a stack", () => {
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
});
