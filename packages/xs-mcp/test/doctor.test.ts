import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { moduleUrl, typeScript } from "../../../host-test/support/program.js";
import { noSdk } from "../../../host-test/support/sdk.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { type Computer, examine, type Finding, PURPOSES, type Purpose } from "../src/moddable/doctor.js";
import { ROOT } from "../src/root.js";

const PROGRAMS = ["cc", "gcc", "make", "git", "idf.py"];
const COMPILERS = ["xtensa-esp32-elf-gcc", "xtensa-esp32s3-elf-gcc", "riscv32-esp-elf-gcc"];
const SDK_TOOLS = ["mcconfig", "xsc", "xsl", "mcsim"];

const XS_HEADER = "#if mxA\n\t#define XS_MAJOR_VERSION 17\n\t#define XS_MINOR_VERSION (3 + mxB)\n#else\n";
const IDF_VERSION = "set(IDF_VERSION_MAJOR 6)\nset(IDF_VERSION_MINOR 0)\nset(IDF_VERSION_PATCH 1)\n";

/** A computer with everything, as files in a folder of its own. */
class MadeUpComputer implements Computer {
	readonly root = temporaryFolder("xs-mcp-doctor-");
	readonly dev = join(this.root, "dev");
	readonly include = join(this.root, "include");
	readonly env: NodeJS.ProcessEnv = {
		PATH: join(this.root, "bin"),
		MODDABLE: join(this.root, "sdk"),
		IDF_PATH: join(this.root, "idf"),
		DISPLAY: ":0",
	};
	platform: NodeJS.Platform = "linux";
	nodeVersion = "22.1.0";

	constructor() {
		for (const program of [...PROGRAMS, ...COMPILERS]) {
			this.program("bin", program);
		}
		for (const tool of SDK_TOOLS) {
			this.program("sdk/build/bin/lin/release", tool);
		}
		this.program("bin", "tsc", "#!/bin/sh\necho Version 7.0.2\n");
		this.write("sdk/xs/sources/xsCommon.h", XS_HEADER);
		this.write("sdk/build/devices/esp32/manifest.json", '{ "EXPECTED_ESP_IDF": "v6.0" }');
		this.write("idf/tools/cmake/version.cmake", IDF_VERSION);
		this.write("dev/ttyUSB0", "");
		this.write("include/alsa/asoundlib.h", "");
		this.write("include/gnu/stubs-32.h", "");
	}

	write(path: string, text: string): void {
		mkdirSync(dirname(join(this.root, path)), { recursive: true });
		writeFileSync(join(this.root, path), text);
	}

	remove(...path: string[]): void {
		rmSync(join(this.root, ...path), { recursive: true });
	}

	program(folder: string, name: string, text = ""): void {
		this.write(`${folder}/${name}`, text);
		chmodSync(join(this.root, folder, name), 0o755);
	}
}

const notOk = (purpose: Purpose, computer: Computer): Finding[] =>
	examine(purpose, computer).filter(({ status }) => status !== "ok");

function doctor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
	return spawnSync(process.execPath, typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "doctor", ...args), {
		cwd: ROOT,
		env: { ...process.env, ...env },
		encoding: "utf8",
	});
}

describe("xs-mcp doctor", { skip: process.platform === "win32" && "these programs do not run on Windows" }, () => {
	it("finds nothing missing on a complete computer", () => {
		const computer = new MadeUpComputer();
		for (const purpose of PURPOSES) {
			assert.deepEqual(notOk(purpose, computer), [], purpose);
		}
	});

	const WITH_SDK: readonly Purpose[] = ["simulator", "link", "build", "flash"];
	const WITH_IDF: readonly Purpose[] = ["build", "flash"];

	/** A missing part of an otherwise complete computer, the purposes that need it, and what its finding and fix say. */
	const FAULTS: readonly (readonly [
		spoil: (computer: MadeUpComputer) => void,
		purposes: readonly Purpose[],
		found: RegExp,
		fix: RegExp,
	])[] = [
		[(it) => Object.assign(it, { nodeVersion: "20.11.1" }), PURPOSES, /^20\.11\.1, which is older/, /^nvm install/],
		[({ env }) => delete env.MODDABLE, WITH_SDK, /^MODDABLE is not set/, /^npm install -g xs-dev && xs-dev setup$/],
		[({ env }) => Object.assign(env, { MODDABLE: "/nowhere" }), WITH_SDK, /^MODDABLE is \/nowhere/, /xs-dev setup/],
		[
			(it) => it.remove("sdk/build/bin"),
			WITH_SDK,
			/^mcconfig, .* not built$/,
			/^cd "\$MODDABLE\/build\/makefiles\/lin"/,
		],
		[(it) => it.remove("include/gnu"), ["link"], /xs-mcp boards cannot measure$/, /gcc-multilib/],
		[({ env }) => delete env.IDF_PATH, WITH_IDF, /^IDF_PATH is not set/, /^git clone -b v6\.0 .* && export IDF_PATH=/],
		[
			(it) => it.write("idf/tools/cmake/version.cmake", IDF_VERSION.replace("6)", "5)")),
			WITH_IDF,
			/^5\.0\.1, and the SDK expects 6\.0$/,
			/checkout v6\.0/,
		],
		[(it) => it.remove("idf/tools"), WITH_IDF, /^no ESP-IDF in /, /git clone/],
		[(it) => it.remove("bin/idf.py"), WITH_IDF, /^idf\.py is not on the PATH/, /^\. "\$IDF_PATH\/export\.sh"$/],
		[(it) => it.remove("dev/ttyUSB0"), ["flash"], /^no USB serial port/, /USB data cable/],
		[
			({ env }) => Object.assign(env, { UPLOAD_PORT: "/dev/none" }),
			["flash"],
			/^UPLOAD_PORT is \/dev\/none/,
			/connect/,
		],
		[({ env }) => delete env.DISPLAY, ["simulator"], /^neither DISPLAY nor/, /a virtual device/],
		[(it) => it.remove("include/alsa"), ["simulator"], /^alsa\/asoundlib\.h not found/, /install libasound2-dev$/],
		[
			(it) => Object.assign(it, { platform: "win32" }),
			WITH_SDK,
			/^not used by these programs on win32/,
			/run mcconfig/,
		],
	];

	for (const [spoil, purposes, found, fix] of FAULTS) {
		it(`reports a fault if it matters, with the fix: ${found.source}`, () => {
			const computer = new MadeUpComputer();
			spoil(computer);
			for (const purpose of PURPOSES) {
				const finding = notOk(purpose, computer).find((each) => found.test(each.found));
				assert.equal(finding?.status, purposes.includes(purpose) ? "missing" : undefined, purpose);
				assert.match(finding?.fix ?? "", purposes.includes(purpose) ? fix : /^$/);
			}
		});
	}

	it("reports a port without permission, with the command that grants it", () => {
		const computer = new MadeUpComputer();
		chmodSync(computer.root, 0o755);
		chmodSync(join(computer.dev, "ttyUSB0"), 0o000);
		const isAdministrator = process.geteuid?.() === 0;
		// access(2) asks for the real user, so another process asks.
		const script = `
			import { examine } from ${JSON.stringify(moduleUrl("packages/xs-mcp/src/moddable/doctor.ts"))};
			${isAdministrator ? "process.setuid(65534);" : ""}
			console.log(JSON.stringify(examine("flash", JSON.parse(process.argv[1])).at(-1)));
		`;
		const flags = ["--input-type=module", "--eval", script];
		const { stdout } = spawnSync(process.execPath, [...flags, JSON.stringify(computer)], {
			cwd: ROOT,
			encoding: "utf8",
		});
		const { status, found, fix } = JSON.parse(stdout) as Finding;
		assert.equal(status, "missing");
		assert.match(found, /^no permission to use .*ttyUSB0$/);
		assert.match(fix ?? "", /^sudo usermod -aG \w+ \$USER, then log in again$/);
	});

	it("warns about optional requirements", () => {
		const computer = new MadeUpComputer();
		computer.remove("bin/cc");
		computer.remove("bin/xtensa-esp32-elf-gcc");
		computer.program("bin", "tsc", "#!/bin/sh\necho Version 5.9.2\n");
		computer.write("sdk/xs/sources/xsCommon.h", XS_HEADER.replace("17", "16"));
		const warnings = (purpose: Purpose) => notOk(purpose, computer).map(({ status, found }) => `${status}: ${found}`);
		assert.deepEqual(warnings("device"), ["warning: cc not found: the virtual device runs on V8 instead of XS"]);
		assert.deepEqual(warnings("build"), [
			"warning: XS 16; the firmware was tried with XS 17.7",
			"warning: tsc 5.9.2; mcconfig by itself needs 6 or newer",
			"warning: idf.py, compilers for ESP32-S3, ESP32-C3 and C6 only",
		]);
	});

	it("shows a line for each finding, followed by its fix, and exits with code 1 if something is missing", () => {
		const { status, stdout } = doctor(["--for", "link"], { MODDABLE: "" });
		assert.match(
			stdout,
			/^missing {2}Moddable SDK: MODDABLE is not set.*\n {9}npm install -g xs-dev && xs-dev setup$/m,
		);
		assert.equal(status, 1);
		assert.equal(doctor(["--for", "device"]).status, 0);
		assert.equal(doctor(["--for", "lunch"]).status, 2);
	});

	it("finds the SDK of this computer ready to link", { skip: noSdk }, () => {
		const { status, stdout } = doctor(["--for", "link"]);
		assert.equal(status, 0, stdout);
		assert.match(stdout, /^ok {7}SDK's tools: mcconfig, xsc, xsl$/m);
		assert.match(stdout, /^ok {7}SDK's version: XS 17$/m);
	});
});
