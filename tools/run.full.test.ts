import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "../host-test/support/testing.js";

/** A program that says that it runs, and then holds its output open until it is told to end. */
const PROGRAM = `
	console.log("runs");
	setInterval(() => {}, 1_000);
`;

it("a program ends with npm, whose shell passes no signals on", {
	skip: process.platform === "win32" && "npm has no such signals on Windows",
}, async (_t) => {
	const folder = temporaryFolder("xs-mcp-run-");
	writeFileSync(join(folder, "program.mjs"), PROGRAM);
	const run = `node ${join(ROOT, "tools/run.mjs")} ${relative(ROOT, join(folder, "program.mjs"))}`;
	writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { program: run } }));
	const npm = spawn("npm", ["run", "--silent", "program"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
	await once(npm.stdout, "data");
	npm.kill("SIGTERM");
	// The output's end comes when the last that holds it has ended.
	await once(npm.stdout, "close");
	assert.notEqual(npm.signalCode ?? npm.exitCode, 0);
});

it("a program ends with tools/run.mjs, also when its terminal is closed", {
	skip: process.platform === "win32" && "Windows has no such signals",
}, async (_t) => {
	const folder = temporaryFolder("xs-mcp-run-");
	writeFileSync(join(folder, "program.ts"), PROGRAM);
	for (const signal of ["SIGTERM", "SIGHUP"] as const) {
		const run = spawn(process.execPath, [join(ROOT, "tools/run.mjs"), relative(ROOT, join(folder, "program.ts"))], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		await once(run.stdout, "data");
		run.kill(signal);
		await once(run.stdout, "close");
	}
});

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const IS_OURS = /^node tools\/run\.mjs .*$/;

for (const [name, command] of Object.entries(scripts).filter(([, each]) => IS_OURS.test(each))) {
	it(`npm run ${name} -- --help shows the help, and does nothing else`, () => {
		const [program, ...args] = command.split(" ") as [string, ...string[]];
		const { status, stdout, stderr } = spawnSync(program, [...args, "--help"], { cwd: ROOT, encoding: "utf8" });
		assert.match(stdout, /usage|^ +npm run /im);
		assert.match(stdout, /--help/);
		assert.equal(stderr, "");
		assert.equal(status, 0);
	});
}
