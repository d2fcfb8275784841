import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type FlashPlan, flashProgram } from "../../../scripts/moddable/flash.js";
import { findSdk, needSdk } from "../../../scripts/moddable/sdk.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const root = temporaryFolder("xs-mcp-flash-");

/** The folders of an SDK that the wrappers look at, with a tool that is never run. */
function makeSdk(): NodeJS.ProcessEnv {
	for (const target of ["esp32s3", "m5stack_cores3"]) {
		const folder = join(root, "build", "devices", "esp32", "targets", target);
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { ESP32_SUBCLASS: "esp32s3" } }));
	}
	for (const host of ["lin", "mac"]) {
		const bin = join(root, "build", "bin", host, "release");
		mkdirSync(bin, { recursive: true });
		writeFileSync(join(bin, "mcconfig"), "");
		chmodSync(join(bin, "mcconfig"), 0o755);
	}
	return { MODDABLE: root, IDF_PATH: root };
}

const env = makeSdk();

/** The options of a command line. Throws its error. */
function plan(words: readonly string[], environment = env): FlashPlan {
	let understood: FlashPlan | undefined;
	const program = flashProgram(async (each) => {
		understood = each;
	}, environment).configureOutput({ writeErr: () => {}, writeOut: () => {} });
	program.parse([...words], { from: "user" });
	assert.ok(understood);
	return understood;
}

const skip = process.platform === "win32" && "the wrappers do not run on Windows";

describe("npm run flash", { skip }, () => {
	it("checks the firmware's settings before anything else", () => {
		assert.throws(() => plan(["--target", "esp32", "pasword=b"]), /^ProgramError: pasword: .*did you mean password\?$/);
		assert.throws(() => plan(["--target", "esp32", "keepAlive=abc"], {}), /keepAlive: expected whole seconds/);
	});

	it("is a release build unless another one is requested", () => {
		assert.deepEqual(plan(["--target", "esp32"]).flags, []);
		assert.deepEqual(plan(["--target", "esp32", "--debug"]).flags, ["-d"]);
		assert.deepEqual(plan(["--target", "esp32", "--log"]).flags, ["-i"]);
		assert.throws(() => plan(["--target", "esp32", "--log", "--debug"]), /cannot be used with/);
	});

	it("only builds, on request", () => {
		assert.equal(plan(["--target", "esp32", "--build-only"]).kind, "build");
		assert.equal(plan(["--target", "esp32"]).kind, "flash");
	});

	it("erases the flash first, on request, and not without flashing", () => {
		assert.equal(plan(["--target", "esp32"]).erases, false);
		assert.equal(plan(["--target", "esp32", "--erase"]).erases, true);
		for (const other of ["--build-only", "--link-only"]) {
			assert.throws(() => plan(["--target", "esp32", "--erase", other]), /cannot be used with/);
		}
	});

	it("takes the port from the command line, or else from UPLOAD_PORT", () => {
		const UPLOAD_PORT = "/dev/ttyACM0";
		assert.equal(plan(["--target", "esp32"]).port, undefined);
		assert.equal(plan(["--target", "esp32"], { ...env, UPLOAD_PORT }).port, UPLOAD_PORT);
		assert.equal(plan(["--target", "esp32", "--port", "/dev/ttyUSB1"], { ...env, UPLOAD_PORT }).port, "/dev/ttyUSB1");
	});

	it("hands settings on as they are, spaces and all", () => {
		const settings = ["ssid=my home", "password=a=b=c=d=e", "backend=wss://example.org/x?a=b"];
		assert.deepEqual(plan([...settings, "--target", "esp32"]).settings, settings);
	});

	it("only links, on request, and then needs no ESP-IDF", () => {
		const { kind } = plan(["--target", "esp32", "--link-only"], { ...env, IDF_PATH: undefined });
		assert.equal(kind, "link");
		assert.throws(() => plan(["--target", "esp32", "--link-only", "--build-only"]), /cannot be used with/);
	});

	it("asks for a target, and for one that is known", () => {
		assert.throws(() => plan(["ssid=home"]), /--target is missing/);
		for (const target of ["esp8266", "esp32/toaster", "esp32/", "esp32/../esp32s3", "esp32/esp32s3/x", ""]) {
			assert.throws(() => plan(["--target", target]), /--target: unknown target /, target);
		}
	});

	it("names the word that is no setting, and the flag that it does not know", () => {
		assert.throws(() => plan(["--target", "esp32", "home"]), /Expected NAME=VALUE, got home/);
		assert.throws(() => plan(["--target", "esp32", "--speed", "9"]), /--speed/);
		assert.throws(() => plan(["--target"]), /--target/);
	});

	it("reports whether MODDABLE or IDF_PATH is missing or invalid", () => {
		const flash = (wrong: NodeJS.ProcessEnv) => () => plan(["--target", "esp32"], { ...env, ...wrong });
		assert.throws(flash({ MODDABLE: undefined }), /MODDABLE is not set/);
		assert.throws(flash({ MODDABLE: join(root, "gone") }), /mcconfig does not exist: build the SDK's tools first/);
		assert.throws(flash({ IDF_PATH: undefined }), /IDF_PATH is not set/);
		assert.throws(flash({ IDF_PATH: join(root, "gone") }), /IDF_PATH is .*gone, which does not exist/);
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
