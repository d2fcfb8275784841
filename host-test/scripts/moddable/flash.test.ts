import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type BoardLog, type BuildPlan, type FlashPlan, flashProgram } from "../../../scripts/moddable/flash.js";
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

/** Arguments of mcconfig. */
function args(...words: string[]): readonly string[] {
	const understood = plan(words);
	assert.notEqual(understood.kind, "monitor");
	return (understood as BuildPlan).args;
}

const skip = process.platform === "win32" && "the wrappers do not run on Windows";

describe("npm run flash", { skip }, () => {
	it("asks mcconfig for the target, in a release build", () => {
		assert.deepEqual(args("--target", "esp32"), ["-p", "esp32"]);
		assert.deepEqual(args("--target", "esp32/m5stack_cores3"), ["-p", "esp32/m5stack_cores3"]);
	});

	it("checks the firmware's settings before anything else", () => {
		assert.throws(() => args("--target", "esp32", "pasword=b"), /^ProgramError: pasword: .*did you mean password\?$/);
		assert.throws(() => plan(["--target", "esp32", "keepAlive=abc"], {}), /keepAlive: expected whole seconds/);
	});

	it("builds for debugging, or with a text log, on request, and shows the board's output", () => {
		assert.deepEqual(args("--target", "esp32", "--debug"), ["-d", "-p", "esp32"]);
		assert.deepEqual(args("--target", "esp32", "--log"), ["-i", "-p", "esp32"]);
		const log = (...words: string[]) => (plan(words) as { log?: BoardLog }).log;
		assert.equal(log("--target", "esp32", "--debug")?.kind, "trace");
		assert.deepEqual(log("--target", "esp32", "--log"), { kind: "text", baud: 115_200 });
		assert.deepEqual(log("--target", "esp32", "--log", "--baud", "460800"), { kind: "text", baud: 460_800 });
		assert.equal(log("--target", "esp32"), undefined);
		assert.throws(() => args("--target", "esp32", "--log", "--debug"), /cannot be used with/);
		assert.throws(() => args("--target", "esp32", "--log", "--baud", "fast"), /Expected bits per second/);
	});

	it("only builds, on request", () => {
		assert.equal(plan(["--target", "esp32", "--build-only"]).kind, "build");
		assert.equal(plan(["--target", "esp32"]).kind, "flash");
	});

	it("only shows the log, on request, and then needs neither target nor ESP-IDF nor, for text, the SDK", () => {
		assert.deepEqual(plan(["--monitor"], {}), {
			kind: "monitor",
			port: undefined,
			log: { kind: "text", baud: 115_200 },
		});
		assert.throws(() => plan(["--monitor", "--debug"], {}), /MODDABLE is not set/);
		for (const building of [["--target", "esp32"], ["--build-only"], ["--link-only"]]) {
			assert.throws(() => plan(["--monitor", ...building]), /cannot be used with/);
		}
	});

	it("takes the port from the command line, or else from UPLOAD_PORT", () => {
		const port = (words: string[], more = {}) => (plan(words, { ...env, ...more }) as { port?: string }).port;
		assert.equal(port(["--target", "esp32"]), undefined);
		assert.equal(port(["--target", "esp32"], { UPLOAD_PORT: "/dev/ttyACM0" }), "/dev/ttyACM0");
		assert.equal(port(["--monitor", "--port", "/dev/ttyUSB1"], { UPLOAD_PORT: "/dev/ttyACM0" }), "/dev/ttyUSB1");
	});

	it("hands settings on as they are, spaces and all", () => {
		const settings = ["ssid=my home", "password=a=b=c=d=e", "backend=wss://example.org/x?a=b"];
		assert.deepEqual(args(...settings, "--target", "esp32"), ["-p", "esp32", ...settings]);
	});

	it("only links, on request, and then needs no ESP-IDF", () => {
		const { kind } = plan(["--target", "esp32", "--link-only"], { ...env, IDF_PATH: undefined });
		assert.equal(kind, "link");
		assert.throws(() => plan(["--target", "esp32", "--link-only", "--build-only"]), /cannot be used with/);
	});

	it("asks for a target, and for one that is known", () => {
		assert.throws(() => args("ssid=home"), /--target is missing/);
		for (const target of ["esp8266", "esp32/toaster", "esp32/", "esp32/../esp32s3", "esp32/esp32s3/x", ""]) {
			assert.throws(
				() => args("--target", target),
				/--target: unknown target .*\. Known targets: esp32, esp32\/esp32s3, esp32\/m5stack_cores3$/,
				target,
			);
		}
	});

	it("names the word that is no setting, and the flag that it does not know", () => {
		assert.throws(() => args("--target", "esp32", "home"), /Expected NAME=VALUE, got home/);
		assert.throws(() => args("--target", "esp32", "--speed", "9"), /--speed/);
		assert.throws(() => args("--target"), /--target/);
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
