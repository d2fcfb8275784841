import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { flashProgram } from "../src/moddable/flash.js";
import { findSdk, needSdk } from "../src/moddable/sdk.js";
import { openProject } from "../src/project.js";
import { ROOT } from "../src/root.js";
import { makeSdk } from "./made-up-sdk.js";

const { root, env, ran } = makeSdk();
const port = join(root, "ttyUSB0");
writeFileSync(port, "");

/** The folder of a project without a device of its own. */
const project = temporaryFolder("xs-mcp-flash-");
writeFileSync(join(project, "manifest.json"), JSON.stringify({ build: { NAME: "lamp" } }));

interface Surroundings {
	readonly env?: NodeJS.ProcessEnv;
	readonly folder?: string;
}

/** Runs a command line, and returns the command lines of the programs that it starts. Throws its error. */
async function flash(words: readonly string[], { env: more, folder = project }: Surroundings = {}) {
	const program = flashProgram(folder, { ...env, UPLOAD_PORT: port, ...more });
	await program.configureOutput({ writeErr: () => {}, writeOut: () => {} }).parseAsync([...words], { from: "user" });
	return ran().map((line) => line.replace(/ -o \S+/, "").replace(` ${folder}/manifest.json`, ""));
}

const skip = process.platform === "win32" && "the wrappers do not run on Windows";

describe("xs-mcp flash", { skip }, () => {
	it("checks the firmware's settings before anything else", async () => {
		await assert.rejects(
			flash(["--target", "esp32", "pasword=b"]),
			/^ProgramError: pasword: .*did you mean password\?$/,
		);
		const without = { env: { MODDABLE: "" } };
		await assert.rejects(flash(["--target", "esp32", "keepAlive=abc"], without), /keepAlive: expected whole seconds/);
	});

	it("runs mcconfig for the kind of build, with the settings as they are", async () => {
		const settings = ["ssid=my home", "password=a=b=c=d=e", "backend=wss://example.org/x?a=b"];
		for (const [flags, args] of [
			[[], "-p esp32"],
			[["--debug"], "-d -p esp32"],
			[["--log"], "-i -p esp32"],
			[["--build-only"], "-p esp32 -t build"],
			[["--build-only", "--log"], "-i -p esp32 -t build"],
		] as const) {
			const lines = await flash([...settings, "--target", "esp32", ...flags]);
			assert.deepEqual(lines, [`mcconfig -m ${args} ${settings.join(" ")} at ${port}`]);
		}
	});

	it("erases the flash first, on request", async () => {
		const lines = await flash(["--target", "esp32", "--erase"]);
		assert.deepEqual(lines, [`esptool --port ${port} erase-flash at ${port}`, `mcconfig -m -p esp32 at ${port}`]);
	});

	it("rejects flags that exclude each other, and those that it does not know", async () => {
		for (const flags of [
			["--log", "--debug"],
			["--erase", "--build-only"],
			["--erase", "--link-only"],
			["--link-only", "--build-only"],
		]) {
			await assert.rejects(flash(["--target", "esp32", ...flags]), /cannot be used with/, flags.join(" "));
		}
		await assert.rejects(flash(["--target", "esp32", "home"]), /Expected NAME=VALUE, got home/);
		await assert.rejects(flash(["--target", "esp32", "--speed", "9"]), /--speed/);
		await assert.rejects(flash(["--target"]), /--target/);
	});

	it("takes the port from the command line rather than from UPLOAD_PORT, and reports one that does not exist", async () => {
		const other = join(root, "ttyACM0");
		writeFileSync(other, "");
		assert.match(String(await flash(["--target", "esp32", "--port", other])), /ttyACM0$/);
		await assert.rejects(flash(["--target", "esp32", "--port", join(root, "gone")]), /gone does not exist/);
	});

	it("only links, on request, and then needs no ESP-IDF", async () => {
		const [line] = await flash(["--target", "esp32", "--link-only"], { env: { IDF_PATH: undefined } });
		assert.match(line ?? "", /^mcconfig -m -p esp32 -t \S+\/mc\.xs\.c at/);
	});

	it("gives a target without a board the firmware's settings of ESP-IDF", async () => {
		await flash(["--target", "esp32/qtpys3_cdc"]);
		const file = join(project, "build/moddable/tmp/esp32/qtpys3_cdc/release/lamp/xsProj-esp32s3/sdkconfig.mc.esp32s3");
		assert.match(
			readFileSync(file, "utf8"),
			/CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE=y[\s\S]*CONFIG_ESP_TASK_WDT_PANIC=y/,
		);
		rmSync(file);
		await flash(["--target", "esp32/m5stack_cores3"]);
		assert.ok(!existsSync(file));
	});

	it("takes the target of the project's device, or a bare chip", async () => {
		const folder = temporaryFolder("xs-mcp-flash-");
		writeFileSync(join(folder, "manifest.json"), '{ "build": { "NAME": "x" }, "modules": { "device": "./device" } }');
		writeFileSync(join(folder, "device.ts"), 'export default { board: "esp32/m5stack_cores3", parts: {} };\n');
		assert.match(String(await flash([], { folder })), /-p esp32\/m5stack_cores3 at/);
		assert.match(String(await flash([])), /-p esp32 at/);
	});

	it("asks for a target that is known, and for one if the firmware has no device of its own", async () => {
		await assert.rejects(flash(["ssid=home"], { folder: openProject(ROOT).folder }), /--target is missing/);
		for (const target of ["esp8266", "esp32/toaster", "esp32/", "esp32/../esp32s3", "esp32/esp32s3/x", ""]) {
			await assert.rejects(flash(["--target", target]), /--target: unknown target /, target);
		}
		await assert.rejects(flash(["--target", "m5stack_core3"]), /Did you mean esp32\/m5stack_cores3\?$/);
	});

	it("rejects a target whose chip has no Wi-Fi, with the reason", async () => {
		await assert.rejects(flash(["--target", "esp32/esp32h2"]), /the chip esp32h2, which has no Wi-Fi: its radio/);
		await assert.rejects(flash(["--target", "esp32/esp32p4"]), /which has no Wi-Fi: it has no radio$/);
	});

	it("reports whether MODDABLE or IDF_PATH is missing or invalid", async () => {
		for (const [wrong, message] of [
			[{ MODDABLE: undefined }, /MODDABLE is not set/],
			[{ MODDABLE: join(root, "gone") }, /mcconfig does not exist: build the SDK's tools first/],
			[{ IDF_PATH: undefined }, /IDF_PATH is not set/],
			[{ IDF_PATH: join(root, "gone") }, /IDF_PATH is .*gone, which does not exist/],
		] as const) {
			await assert.rejects(flash(["--target", "esp32"], { env: wrong }), message);
		}
	});
});

describe("Moddable's SDK", { skip }, () => {
	it("is where MODDABLE says", () => {
		assert.equal(findSdk(env)?.root, root);
	});

	it("is not there where MODDABLE is not set, or empty", () => {
		assert.equal(findSdk({}), undefined);
		assert.equal(findSdk({ MODDABLE: "" }), undefined);
		assert.throws(() => needSdk({}), /MODDABLE is not set/);
	});
});
