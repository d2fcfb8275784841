import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { FlashPlan } from "./flash.js";
import { flashProgram } from "./flash.js";
import { findSdk, needSdk } from "./sdk.js";

const root = mkdtempSync(join(tmpdir(), "xs-mcp-flash-"));
after(() => rmSync(root, { recursive: true }));

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

/** What a command line asks for. Throws what it is rejected with. */
function plan(words: readonly string[], environment = env): FlashPlan {
	let understood: FlashPlan | undefined;
	const program = flashProgram(async (each) => {
		understood = each;
	}, environment).configureOutput({ writeErr: () => {}, writeOut: () => {} });
	program.parse([...words], { from: "user" });
	assert.ok(understood);
	return understood;
}

const args = (...words: string[]): readonly string[] => plan(words).args;

const skip = process.platform === "win32" && "the wrappers do not run on Windows";

describe("npm run flash", { skip }, () => {
	it("asks mcconfig for the target, without the debugger, and puts it on the chip", () => {
		assert.deepEqual(args("--target", "esp32"), ["-p", "esp32"]);
		assert.deepEqual(args("--target", "esp32/m5stack_cores3"), ["-p", "esp32/m5stack_cores3"]);
	});

	it("builds for the debugger, or builds only, where it is told to", () => {
		assert.deepEqual(args("--target", "esp32", "--debug"), ["-d", "-p", "esp32"]);
		assert.deepEqual(args("--target", "esp32", "--build-only"), ["-p", "esp32", "-t", "build"]);
	});

	it("hands settings on as they are, spaces and all", () => {
		const settings = ["ssid=my home", "password=a=b", "backend=wss://example.org/x?a=b"];
		assert.deepEqual(args(...settings, "--target", "esp32"), ["-p", "esp32", ...settings]);
	});

	it("links only where it is told to, and then needs no ESP-IDF", () => {
		const { linkOnly, args } = plan(["--target", "esp32", "--link-only"], { ...env, IDF_PATH: undefined });
		assert.deepEqual([linkOnly, args], [true, ["-p", "esp32"]]);
		assert.throws(() => plan(["--target", "esp32", "--link-only", "--build-only"]), /cannot be used with/);
	});

	it("asks for a target, and for one that is known", () => {
		assert.throws(() => args("ssid=home"), /required option '--target <target>' not specified/);
		for (const target of ["esp8266", "esp32/toaster", "esp32/", "esp32/../esp32s3", "esp32/esp32s3/x", ""]) {
			assert.throws(
				() => args("--target", target),
				/--target: .* is not known\. Known are: esp32, esp32\/esp32s3, esp32\/m5stack_cores3$/,
				target,
			);
		}
	});

	it("names the word that is no setting, and the flag that it does not know", () => {
		assert.throws(() => args("--target", "esp32", "home"), /Expected NAME=VALUE, got home/);
		assert.throws(() => args("--target", "esp32", "--port", "x"), /--port/);
		assert.throws(() => args("--target"), /--target/);
	});

	it("says which of MODDABLE and IDF_PATH is missing, or leads nowhere", () => {
		const flash = (wrong: NodeJS.ProcessEnv) => () => plan(["--target", "esp32"], { ...env, ...wrong });
		assert.throws(flash({ MODDABLE: undefined }), /MODDABLE is not set/);
		assert.throws(flash({ MODDABLE: join(root, "gone") }), /mcconfig is not there: build the SDK's tools first/);
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
