import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { FileReport, Progress } from "../runner/report.js";
import { testsFor } from "../runner/select.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WORKFLOWS = join(ROOT, ".github/workflows");
const workflow = (name: string): string => readFileSync(join(WORKFLOWS, name), "utf8");

/** Runs .ci/run with programs that only say how they were called. Returns what was called. */
function runPretended(uid: number, programs: readonly string[]): string[] {
	const folder = temporaryFolder("xs-mcp-ci-");
	const log = join(folder, "log");
	const pretend = (name: string, script: string): void => {
		writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
		chmodSync(join(folder, name), 0o755);
	};
	pretend("id", `echo ${uid}`);
	pretend("npm", `echo "npm $* CI=$CI" >>"${log}"`);
	for (const name of programs) {
		pretend(name, `echo "${name} $*" >>"${log}"`);
	}
	for (const name of ["bash", "dirname", "env"].filter((each) => !programs.includes(each))) {
		pretend(name, `exec ${existsSync(`/usr/bin/${name}`) ? "/usr/bin" : "/bin"}/${name} "$@"`);
	}
	const bash = existsSync("/bin/bash") ? "/bin/bash" : "/usr/bin/bash";
	execFileSync(bash, [join(ROOT, ".ci/run")], { env: { PATH: folder } });
	return readFileSync(log, "utf8").trim().split("\n");
}

describe("continuous integration", { skip: process.platform === "win32" && "needs bash" }, () => {
	it("installs what the tests need, with sudo where it is not root, and then expects it", () => {
		for (const [uid, prefix] of [
			[1000, "sudo "],
			[0, ""],
		] as const) {
			const calls = runPretended(uid, ["apt-get", ...(uid === 0 ? [] : ["sudo"])]);
			const install = calls.find((call) => call.includes("apt-get install")) ?? "";
			assert.ok(install.startsWith(`${prefix}${uid === 0 ? "apt-get install" : "env DEBIAN"}`), install);
			for (const name of ["gcc-multilib", "mosquitto", "nats-server", "chromium"]) {
				assert.ok(install.includes(` ${name}`), `${name}: ${install}`);
			}
			assert.ok(calls.includes("npm ci --loglevel=error CI=true"), calls.join("\n"));
		}
	});

	it("installs nothing where it cannot, and then expects nothing", () => {
		const calls = runPretended(1000, ["apt-get"]);
		assert.equal(calls[0], "npm ci --loglevel=error CI=");
	});

	it("is the same script in every workflow, on each supported version of Node", () => {
		for (const name of readdirSync(WORKFLOWS)) {
			assert.match(workflow(name), /run: bash \.ci\/run$/m);
			assert.doesNotMatch(workflow(name), /apt-get/);
		}
		assert.match(workflow("ci.yml"), /node: \[20, 22, 24\]/);
	});

	it("runs tests that exist on Windows and macOS", () => {
		const [, ...commands] = workflow("ci.yml").split("run: npm test -- ");
		const paths = commands.flatMap((each) => each.split("\n")[0]?.split(" ") ?? []);
		assert.ok(paths.length > 3);
		for (const path of paths) {
			assert.ok(testsFor(path).length > 0, path);
		}
	});
});

describe("a suite that is skipped", () => {
	it("is not said to be ok", (t: TestContext) => {
		const lines: string[] = [];
		t.mock.method(console, "log", (line: string) => lines.push(line));
		const event = { type: "pass", name: "a broker", nesting: 0, isSuite: true, skip: "it is not installed" } as const;
		new Progress(1).hear(event);
		t.mock.restoreAll();
		assert.deepEqual(lines, ["skipped a broker: it is not installed"]);
		const report = new FileReport("file");
		report.hear(event);
		assert.equal(report.skipped.get("it is not installed"), 1);
	});
});
