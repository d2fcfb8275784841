import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { device, relay } from "xs-mcp-firmware/hardware/parts/index";
import { Program } from "../../../host-test/support/program.js";
import { skipIf, temporaryFolder } from "../../../host-test/support/testing.js";
import { BOARDS, makeProject, type ProjectPlan, targetOf } from "../create/make-project.js";
import { checkDevice, freePinOf, TARGETS } from "../src/build/check-board.js";
import { ROOT } from "../src/root.js";

const plan = (change: Partial<ProjectPlan> = {}): ProjectPlan => ({
	folder: join(temporaryFolder(), "pond"),
	name: "pond",
	board: "m5stack_cores3",
	language: "ja",
	...change,
});

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** A pseudo-terminal is that of util-linux's `script`. */
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux");
const noTerminal = skipIf(!hasScript && "no script of util-linux here");

/** Arguments of Node that run the program. */
const creating = (...args: string[]): string[] => [
	// As tools/run.mjs: ts-node's use of deprecated APIs.
	"--disable-warning=DEP0180",
	"--disable-warning=DEP0205",
	"--import",
	pathToFileURL(`${ROOT}tools/register.mjs`).href,
	`${ROOT}packages/xs-mcp/create/create-cli.ts`,
	...args,
];

/** Runs the program in a terminal. Resolves when it asks its first question. */
async function openTerminal(cwd: string, ...args: string[]): Promise<Program> {
	const line = [process.execPath, ...creating(...args)].map((word) => `'${word}'`).join(" ");
	const shell = ["--quiet", "--flush", "--return", "--command", line, "/dev/null"];
	return await Program.start(shell, (output) => output.includes("Name ["), { command: "script", cwd });
}

/** Runs the program without a terminal. */
function create(cwd: string, ...args: string[]) {
	return spawnSync(process.execPath, creating(...args), { cwd, encoding: "utf8" });
}

describe("create-xs-mcp", () => {
	it("makes a project: the firmware as its one dependency, the board, the language", () => {
		const made = plan();
		makeProject(made);
		const { name, scripts, dependencies } = readJson(join(made.folder, "package.json"));
		assert.equal(name, "pond");
		assert.deepEqual(dependencies, { "xs-mcp": `^${FIRMWARE.version}` });
		assert.deepEqual(Object.keys(scripts), ["start", "test", "typecheck", "flash", "simulator", "doctor"]);
		assert.match(
			readFileSync(join(made.folder, "device.ts"), "utf8"),
			/\tboard: "esp32\/m5stack_cores3",\n.*\n\t\tpump: relay\(\{ pin: 5, /,
		);
		const { build, config } = readJson(join(made.folder, "manifest.json"));
		assert.equal(build.NAME, "pond");
		assert.deepEqual(config, { name: "pond", language: "ja" });
		assert.deepEqual(
			readdirSync(made.folder).filter((each) => !each.endsWith(".ts")),
			[
				".gitignore",
				".mcp.json",
				"AGENTS.md",
				"README.md",
				"manifest.json",
				"package.json",
				"test",
				"tools",
				"tsconfig.json",
			],
		);
		const readme = readFileSync(join(made.folder, "README.md"), "utf8");
		assert.match(readme, /^# pond\n/);
		assert.doesNotMatch(readme, /\{\{/);
		assert.ok(readme.split("\n").length <= 30, "one screen");
	});

	it("offers the boards that the firmware knows, for flash and virtually", () => {
		assert.deepEqual(
			TARGETS.filter((target) => !BOARDS.map(targetOf).includes(target)),
			[],
		);
	});

	it("has a part at a pin that the chip has", () => {
		for (const board of BOARDS) {
			const parts = { pump: relay({ pin: freePinOf(targetOf(board)) }) };
			const warnings = checkDevice(device({ board: targetOf(board), parts }));
			// These boards take all other pins.
			const isFull = ["bread_compact_wifi_s3cam", "esp32_cam"].includes(board);
			assert.ok(isFull || warnings.length === 0, `${board}: ${warnings.join()}`);
		}
	});

	it("overwrites nothing", () => {
		const used = plan();
		mkdirSync(used.folder);
		writeFileSync(join(used.folder, "notes.txt"), "mine");
		assert.throws(() => makeProject(used), /pond has something in it, and nothing is overwritten/);
		assert.deepEqual(readdirSync(used.folder), ["notes.txt"]);
		const file = plan({ folder: join(used.folder, "notes.txt") });
		assert.throws(() => makeProject(file), /notes\.txt is a file: name a new folder/);
	});

	it("says in one line that a folder cannot be written", () => {
		const { status, stderr } = create(temporaryFolder(), "/dev/null/pond", "--no-install");
		assert.equal(status, 1);
		assert.match(stderr, /^error: the project cannot be written: ENOTDIR: .*'\/dev\/null\/pond'\n$/);
	});

	it("says which name a device cannot have", () => {
		for (const name of ["", "Pond", "1pond", "my pond", "../pond", "xs-mcp", "p".repeat(33)]) {
			const bad = plan({ name });
			assert.throws(() => makeProject(bad), /^ProgramError: name: expected 1 to 32 lower-case letters.* got "/, name);
			assert.equal(existsSync(bad.folder), false);
		}
	});

	it("takes the firmware from tarballs, and says if they are not of its version", () => {
		const packages = temporaryFolder();
		assert.throws(
			() => makeProject(plan({ packages })),
			/--packages: this template needs xs-mcp .* has no tarball of it/,
		);
		writeFileSync(join(packages, "xs-mcp-0.0.9.tgz"), "");
		assert.throws(
			() => makeProject(plan({ packages })),
			new RegExp(`needs xs-mcp ${FIRMWARE.version}; .* has xs-mcp-0.0.9.tgz`),
		);
		const names = [`xs-mcp-${FIRMWARE.version}.tgz`, `xs-mcp-gateway-${FIRMWARE.version}.tgz`];
		for (const name of names) {
			writeFileSync(join(packages, name), "");
		}
		const made = plan({ packages });
		makeProject(made);
		const { dependencies } = readJson(join(made.folder, "package.json"));
		assert.deepEqual(Object.keys(dependencies), ["xs-mcp", "xs-mcp-gateway"]);
		for (const spec of Object.values(dependencies)) {
			assert.ok(existsSync(join(made.folder, String(spec).replace("file:", ""))), String(spec));
		}
	});

	it("asks nothing without a terminal: it takes defaults, and names what it cannot guess", () => {
		const cwd = temporaryFolder();
		const { stdout } = create(cwd, "pond", "--no-install");
		assert.match(stdout, /^pond is in pond\.\nNext: cd pond && npm install && npm start\n$/);
		assert.equal(readJson(join(cwd, "pond", "manifest.json")).config.language, "en");
		const nothing = create(cwd);
		assert.deepEqual(
			[nothing.status, nothing.stderr],
			[1, "error: the folder is missing: npm create xs-mcp my-device\n"],
		);
		const board = create(cwd, "lake", "--board", "esp32/m5dail");
		assert.equal(board.status, 2);
		assert.match(board.stderr, /argument 'esp32\/m5dail' is invalid\. Did you mean m5dial\?/);
		const toaster = create(cwd, "lake", "--board", "toaster");
		assert.match(toaster.stderr, /argument 'toaster' is invalid\. Unknown board: --help lists the boards\./);
		assert.match(create(cwd, "--help").stdout, /choices: "esp32", [^)]*"m5dial"/);
	});

	it("asks at a terminal for name, board and language, and again for what cannot be", {
		skip: noTerminal,
	}, async () => {
		const cwd = temporaryFolder();
		mkdirSync(join(cwd, "used"));
		writeFileSync(join(cwd, "used", "notes.txt"), "mine");
		const terminal = await openTerminal(cwd, "--no-install");
		terminal.write("My Lake\nused\nlake\ntoaster\nesp32/esp32c3\nja\n");
		assert.equal(await terminal.ended(), 0, terminal.output);
		const said = terminal.output.replaceAll("\r", "");
		assert.match(said, /name: expected 1 to 32 lower-case letters, .* got "My Lake"/);
		assert.match(said, /used has something in it, and nothing is overwritten/);
		assert.match(said, /Unknown board: --help lists the boards\.\n/);
		assert.match(said, /lake is in lake\.\nNext: cd lake && npm install && npm start\n$/);
		assert.deepEqual(readJson(join(cwd, "lake", "manifest.json")).config, { name: "lake", language: "ja" });
		assert.match(readFileSync(join(cwd, "lake", "device.ts"), "utf8"), /board: "esp32\/esp32c3"/);
	});

	it("takes a default for an empty answer, and asks only for what no flag says", { skip: noTerminal }, async () => {
		const cwd = temporaryFolder();
		const terminal = await openTerminal(cwd, "--no-install", "--language", "zh");
		terminal.write("\n\n");
		assert.equal(await terminal.ended(), 0, terminal.output);
		assert.doesNotMatch(terminal.output, /Language \(/);
		assert.deepEqual(readJson(join(cwd, "my-device", "manifest.json")).config, { name: "my-device", language: "zh" });
	});

	it("makes nothing if a person leaves at a question", { skip: noTerminal }, async () => {
		const cwd = temporaryFolder();
		const terminal = await openTerminal(cwd, "--no-install");
		terminal.write("lake\n\u0004");
		assert.equal(await terminal.ended(), 1);
		assert.match(terminal.output, /error: nothing was made/);
		assert.deepEqual(readdirSync(cwd), []);
	});

	it("keeps the project and says what to do where npm finds no network", () => {
		const cwd = temporaryFolder();
		const env = { ...process.env, npm_config_registry: "http://127.0.0.1:9/" };
		const args = creating("my pond", "--name", "pond");
		const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8", env });
		assert.equal(status, 1);
		assert.match(
			stderr,
			/error: the packages are not installed: .* run npm install in my pond where there is a network\n$/,
		);
		assert.ok(existsSync(join(cwd, "my pond", "package.json")));
	});
});
