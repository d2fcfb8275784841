import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { DEVICE, MANIFEST, ownProject, TOOL } from "../host-test/support/own-project.js";
import { Program, typeScript } from "../host-test/support/program.js";
import { until } from "../host-test/support/testing.js";

const RUNS = /^pond runs on /m;

const TSCONFIG = JSON.stringify({
	compilerOptions: {
		...{
			target: "ES2022",
			lib: ["ES2022"],
			module: "ES2022",
			moduleResolution: "Bundler",
			strict: true,
			skipLibCheck: true,
		},
		paths: { "xs-mcp": ["./node_modules/xs-mcp/src/hardware/parts/index.ts"] },
		types: ["./node_modules/xs-mcp/src/types/xs"],
	},
	include: ["*.ts"],
});

async function start(t: TestContext, files: Readonly<Record<string, string | undefined>>, said: RegExp) {
	const cwd = ownProject(files);
	const args = typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "start", "--no-gateway", "--page", "0");
	const program = await Program.start(args, (output) => said.test(output), { cwd });
	t.after(() => program.stop());
	const says = (pattern: RegExp) => until(() => pattern.test(program.output), String(pattern));
	return { program, says, write: (path: string, text: string) => writeFileSync(join(cwd, path), text) };
}

describe("npm start of a project", () => {
	it("waits where a part is wrong at the first start, and runs when the file is saved again", async (t) => {
		const wrong = { "device.ts": DEVICE.replace("pin: 26", "pin: 34") };
		const { program, says, write } = await start(t, wrong, /waiting for a change/i);
		assert.match(
			program.output,
			/^error: device\.ts: part pump: pin 34 of the ESP32 is only an input; these would do: /m,
		);
		assert.doesNotMatch(program.output, RUNS);
		write("device.ts", `${DEVICE}const x: = 1;\n`);
		await says(/device\.ts:6:10: Unexpected "="/);
		write("device.ts", DEVICE);
		await says(RUNS);
		await says(/^The device's page: http:/m);
	});

	it("waits where the manifest is no JSON at the first start", async (t) => {
		const { says, write } = await start(t, { "manifest.json": "{" }, /error: manifest\.json:1:2: .*JSON/);
		write("manifest.json", JSON.stringify(MANIFEST));
		await says(RUNS);
	});

	it("does not claim to run while a tool throws at the start, and says so when it runs", async (t) => {
		const wrong = { "tools/level.ts": "export default 1;\n" };
		const { program, says, write } = await start(t, wrong, /waiting for a change/i);
		assert.match(program.output, /^error: .*tools\/level\.ts: expected "export default defineTool/m);
		assert.doesNotMatch(program.output, / runs on /);
		write("tools/level.ts", TOOL);
		await says(RUNS);
	});

	it("tells the type errors of files beside the run, and when there are none any more", async (t) => {
		const files = {
			"tsconfig.json": TSCONFIG,
			"device.ts": DEVICE.replace("maxOn: 30", "title: 30"),
		};
		const { says, write } = await start(t, files, RUNS);
		await says(/^type error: device\.ts:4:34: Type 'number' is not assignable to type 'string'/m);
		write("device.ts", DEVICE);
		await says(/^The types are correct again\.$/m);
	});

	it("takes the settings of a changed manifest, and tells of a wrong one", async (t) => {
		const { says, write } = await start(t, {}, RUNS);
		write("manifest.json", JSON.stringify({ ...MANIFEST, config: { language: "xx" } }));
		await says(/^error: manifest\.json: config: language: expected/m);
		write("manifest.json", JSON.stringify({ ...MANIFEST, config: { langauge: "ja" } }));
		await says(/^warning: manifest\.json: config: langauge: unknown setting: did you mean language\?$/m);
	});

	it("names a part that does not answer, and a sensor that throws each time, and runs", async (t) => {
		const parts = `
class Absent { constructor() { throw new Error("nobody there"); } sample() { return {}; } close() {} }
class Broken { sample() { throw new Error("bad checksum"); } close() {} }
export default device({ parts: {
	air: sensor(Absent, { bus: "default" }), soil: sensor(Broken, { bus: "default" }),
} });
`;
		const { says } = await start(t, { "device.ts": `import { device, sensor } from "xs-mcp";${parts}` }, RUNS);
		await says(/^warning: part air: nobody there; tried again$/m);
		await says(/^warning: part soil: bad checksum; tried again$/m);
	});

	it("ends where the folder has no project", async () => {
		const args = typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "start");
		await assert.rejects(
			Program.start(args, () => false, { cwd: join(ownProject(), "lib") }),
			/has no manifest\.json: run this in a project's folder/,
		);
	});
});

/** Runs the program in a project, and returns what it prints. */
function run(files: Readonly<Record<string, string>>, ...args: readonly string[]): string {
	const cwd = ownProject({ "tsconfig.json": TSCONFIG, ...files });
	const program = typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", ...args);
	const { stdout, stderr } = spawnSync(process.execPath, program, {
		cwd,
		encoding: "utf8",
		env: { ...process.env, MODDABLE: "" },
	});
	return stdout + stderr;
}

/** A device with a handler of its pump. */
const withHandler = (handler: string): string =>
	DEVICE.replace("\tparts:", `\ton: { pump: { change: ({ switches, lights }) => ${handler} } },\n\tparts:`);

describe("npm run typecheck of a project", () => {
	it("names what the compiler finds, and parts, pins and words of ESPHome", () => {
		assert.equal(run({}, "check"), "");
		const inverted = run({ "device.ts": DEVICE.replace("maxOn: 30", "inverted: true") }, "check");
		assert.match(inverted, /^device\.ts:4:34: .*'inverted' does not exist in type 'RelayOptions'/m);
		assert.match(inverted, /^device\.ts: part pump: unknown option inverted, .* did you mean activeLow\?$/m);
		assert.match(
			run({ "device.ts": DEVICE.replace("pin: 26", "pin: 35") }, "check"),
			/part pump: pin 35 .* only an input/,
		);
		assert.match(
			run({ "device.ts": DEVICE.replace("pin: 26", "pin: 12") }, "check"),
			/^warning: device\.ts: part pump: pin 12 decides/,
		);
	});

	it("names what is wrong in the manifest", () => {
		const withManifest = (members: object): string =>
			run({ "manifest.json": JSON.stringify({ ...MANIFEST, ...members }) }, "check");
		assert.match(
			withManifest({ config: { keepAlive: 0 } }),
			/^manifest\.json: config: keepAlive: expected whole seconds from 1 to 65535, got 0$/m,
		);
		assert.match(
			withManifest({ build: { NAME: "pond" } }),
			/^manifest\.json: "include" lacks the firmware: expected \$\(XS_MCP\)\/manifest\.json, and XS_MCP in "build"$/m,
		);
	});

	it("names the chip's way to do what Node.js and browsers do", () => {
		const errorOf = (handler: string): string => run({ "device.ts": withHandler(handler) }, "check");
		assert.match(
			errorOf("console.log(1)"),
			/:4:\d+: Cannot find name 'console': trace\(…\) writes to the device's log$/m,
		);
		assert.match(errorOf("fetch('x')"), /'fetch': .*"http"/);
		assert.match(errorOf("setTimeout(() => {}, 1)"), /'setTimeout': .*call\.sleep/);
		assert.match(errorOf("process.exit()"), /'process': the chip has neither Node\.js nor a browser$/m);
		assert.match(errorOf("constructor()"), /Cannot find name 'constructor'\.$/m);
	});

	it("leaves out long types", () => {
		const error = run({ "device.ts": withHandler("[lights, switches.pumpp]") }, "check");
		assert.match(error, /^device\.ts:4:\d+: Property 'pumpp' does not exist on type '…'\. Did you mean 'pump'\?$/m);
	});

	it("is done before a build for a chip", () => {
		const error = run({ "device.ts": DEVICE.replace("maxOn: 30", "maxon: 30") }, "flash", "--link-only");
		assert.match(error, /^device\.ts:4:34: .*Did you mean to write 'maxOn'\?$/m);
		assert.doesNotMatch(error, /MODDABLE/);
	});
});
