import { spawnSync } from "node:child_process";
import { constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { makeProgram } from "../build/program.js";
import { listPorts, permissionCommand } from "./ports.js";
import { findProgram, HOSTS, IDF_VERSION, isAllowed, isExecutable } from "./sdk.js";

/**
 * The purposes. Each one selects checks.
 *
 * @internal
 */
export const PURPOSES = ["device", "simulator", "link", "build", "flash"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** The result of a check. */
export interface Finding {
	readonly name: string;
	/** `missing`: the purpose needs it. `warning`: it is optional, or this version is untested. */
	readonly status: "ok" | "warning" | "missing";
	readonly found: string;
	/** How to fix it, with a command if possible. Absent if it is ok. */
	readonly fix?: string;
}

/** The computer's properties that are checked. */
export interface Computer {
	readonly env: NodeJS.ProcessEnv;
	readonly platform: NodeJS.Platform;
	/** "20.20.2" */
	readonly nodeVersion: string;
	/** The folder of devices. */
	readonly dev: string;
	/** The folder of C headers. */
	readonly include: string;
}

type Result = Omit<Finding, "name">;
type Check = (computer: Computer, purpose: Purpose) => Result;

/** The version of Node that package.json asks for. */
const NODE = [20, 12] as const;

/** The SDK's engine with which the firmware was tested. */
const XS = { major: "17", tried: "17.7" } as const;

/** Oldest version of TypeScript that knows the options that mcconfig writes. */
const TYPESCRIPT = 6;

/** ESP-IDF's compilers, by the chips that they compile for. */
const COMPILERS = {
	"xtensa-esp32-elf-gcc": "ESP32",
	"xtensa-esp32s3-elf-gcc": "ESP32-S3",
	"riscv32-esp-elf-gcc": "ESP32-C3 and C6",
} as const;

/** The computer that this program runs on. */
const THIS: Computer = { ...process, nodeVersion: process.versions.node, dev: "/dev", include: "/usr/include" };

const EPILOGUE = `
Purposes: device (a virtual one), simulator (xs-mcp simulator), link (xs-mcp flash --link-only), build (--build-only, xs-mcp
firmware), flash (xs-mcp flash). Exit code 1 if something is missing that the purpose needs.`;

/** `xs-mcp doctor`: reports what is missing to build for a board or the simulator, and the command that fixes it. */
export const doctorProgram = (): Command =>
	makeProgram("xs-mcp doctor", "Reports what is missing, and the command that fixes it.")
		.addOption(new Option("--for <purpose>", "task to check for").choices(PURPOSES).default("flash"))
		.addHelpText("after", EPILOGUE)
		.action(({ for: purpose }: { readonly for: Purpose }) => {
			const findings = examine(purpose);
			console.log(describeFindings(findings));
			process.exitCode = findings.some(({ status }) => status === "missing") ? 1 : 0;
		});

/**
 * Checks a computer. Findings are in the order in which to fix them.
 *
 * @internal
 */
export function examine(purpose: Purpose, computer: Computer = THIS): Finding[] {
	const checks = CHECKS.filter(([, purposes]) => purposes.includes(purpose));
	return checks.map(([name, , check]) => ({ name, ...check(computer, purpose) }));
}

/** The findings as text: a line for each, followed by the command that fixes it. */
function describeFindings(findings: readonly Finding[]): string {
	return findings
		.map(({ name, status, found, fix }) => {
			const line = `${status.padEnd(8)} ${name}: ${found}`;
			return fix === undefined ? line : `${line}\n${" ".repeat(9)}${fix}`;
		})
		.join("\n");
}

/** Finds the first group of a pattern in a file; undefined also without the file. */
function readMatch(file: string, pattern: RegExp): string | undefined {
	return existsSync(file) ? pattern.exec(readFileSync(file, "utf8"))?.[1] : undefined;
}

const ok = (found: string): Result => ({ status: "ok", found });
const missing = (found: string, fix: string): Result => ({ status: "missing", found, fix });
const warning = (found: string, fix: string): Result => ({ status: "warning", found, fix });

const node: Check = ({ nodeVersion }) => {
	const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
	return major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
		? ok(nodeVersion)
		: missing(`${nodeVersion}, which is older than ${NODE.join(".")}`, "nvm install --lts");
};

/** Checks for cc and make. Without them, the virtual device runs on Node's own engine. */
const compilerForXs: Check = ({ env }) => {
	const absent = ["cc", "make"].filter((program) => findProgram(program, env) === undefined);
	return absent.length === 0
		? ok("cc and make, for the XS engine")
		: warning(
				`${absent.join(" and ")} not found: the virtual device runs on V8 instead of XS`,
				"sudo apt-get install build-essential",
			);
};

const sdk: Check = ({ env: { MODDABLE }, platform }) => {
	const fix = "npm install -g xs-dev && xs-dev setup";
	if (HOSTS[platform] === undefined) {
		return missing(`not used by these programs on ${platform}`, "run mcconfig yourself");
	}
	if (!MODDABLE) {
		return missing("MODDABLE is not set: it must name the SDK's folder", fix);
	}
	return existsSync(MODDABLE) ? ok(MODDABLE) : missing(`MODDABLE is ${MODDABLE}, which does not exist`, fix);
};

const sdkTools: Check = ({ env: { MODDABLE = "" }, platform }, purpose) => {
	const programs = purpose === "simulator" ? ["mcconfig", "mcsim"] : ["mcconfig", "xsc", "xsl"];
	const host = HOSTS[platform] ?? "";
	const absent = programs.filter((each) => !isExecutable(join(MODDABLE, "build", "bin", host, "release", each)));
	// Its last tools are built with its first ones, which make looks for on the PATH.
	const fix = `cd "$MODDABLE/build/makefiles/${host}" && PATH="$MODDABLE/build/bin/${host}/release:$PATH" make`;
	return absent.length === 0 ? ok(programs.join(", ")) : missing(`${absent.join(", ")} not built`, fix);
};

/** The SDK's sources name the engine, but not the SDK's own version. The engine's minor version is a sum of options. */
const sdkVersion: Check = ({ env: { MODDABLE = "" } }) => {
	const fix = 'git -C "$MODDABLE" fetch --tags && git -C "$MODDABLE" checkout 8.2.3, then build its tools again';
	const version = readMatch(join(MODDABLE, "xs/sources/xsCommon.h"), /#define XS_MAJOR_VERSION (\d+)/);
	const found = version === undefined ? "not known" : `XS ${version}`;
	return version === XS.major ? ok(found) : warning(`${found}; the firmware was tried with XS ${XS.tried}`, fix);
};

/** mcconfig by itself runs the `tsc` on the PATH, and writes settings that version 5 rejects. Programs of npm bring their own. */
const typescript: Check = ({ env }) => {
	const program = findProgram("tsc", env);
	const fix = "npm install -g typescript";
	if (program === undefined) {
		return warning("tsc is not on the PATH: mcconfig by itself cannot build", fix);
	}
	const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
	const [version = "of an unknown version", major] = /(\d+)\.\d+\.\d+/.exec(stdout ?? "") ?? [];
	return Number(major) >= TYPESCRIPT
		? ok(version)
		: warning(`tsc ${version}; mcconfig by itself needs ${TYPESCRIPT} or newer`, fix);
};

/** The SDK's audio out for Linux is compiled with every build for the simulator. */
const soundHeaders: Check = ({ include, platform }) =>
	platform !== "linux" || existsSync(join(include, "alsa", "asoundlib.h"))
		? ok("headers")
		: missing("alsa/asoundlib.h not found", "sudo apt-get install libasound2-dev");

const display: Check = ({ env, platform }) =>
	platform !== "linux" || env.DISPLAY || env.WAYLAND_DISPLAY
		? ok("found")
		: missing("neither DISPLAY nor WAYLAND_DISPLAY is set", "use a virtual device, which needs no display");

const git: Check = ({ env }) =>
	findProgram("git", env) === undefined ? missing("not found", "sudo apt-get install git") : ok("found");

/** Boards are measured with a 32-bit object of their constant data. */
const compilerFor32Bits: Check = ({ env, include }) => {
	const headers = ["", "x86_64-linux-gnu"].map((folder) => join(include, folder, "gnu", "stubs-32.h"));
	return findProgram("gcc", env) !== undefined && headers.some((header) => existsSync(header))
		? ok("gcc with 32-bit headers")
		: missing("not found: xs-mcp boards cannot measure", "sudo apt-get install gcc-multilib");
};

const idf: Check = ({ env: { IDF_PATH, MODDABLE = "" } }) => {
	const manifest = join(MODDABLE, "build/devices/esp32/manifest.json");
	const wanted = readMatch(manifest, /"EXPECTED_ESP_IDF":\s*"v([\d.]+)"/) ?? IDF_VERSION;
	const clone = `git clone -b v${wanted} --recursive https://github.com/espressif/esp-idf.git ~/esp32/esp-idf`;
	const fix = `${clone} && ~/esp32/esp-idf/install.sh && export IDF_PATH=~/esp32/esp-idf`;
	if (!IDF_PATH || !existsSync(IDF_PATH)) {
		return missing(IDF_PATH ? `IDF_PATH is ${IDF_PATH}, which does not exist` : "IDF_PATH is not set", fix);
	}
	const file = join(IDF_PATH, "tools/cmake/version.cmake");
	const numbers = ["MAJOR", "MINOR", "PATCH"].map((part) => readMatch(file, new RegExp(`IDF_VERSION_${part} (\\d+)`)));
	if (numbers.includes(undefined)) {
		return missing(`no ESP-IDF in ${IDF_PATH}`, fix);
	}
	const version = numbers.join(".");
	const update = `git -C "$IDF_PATH" checkout v${wanted} && git -C "$IDF_PATH" submodule update --init --recursive`;
	return version.startsWith(`${wanted}.`)
		? ok(version)
		: missing(`${version}, and the SDK expects ${wanted}`, `${update} && "$IDF_PATH/install.sh"`);
};

const idfTools: Check = ({ env }) => {
	const fix = '. "$IDF_PATH/export.sh"';
	const compilers = Object.entries(COMPILERS);
	const found = compilers.filter(([program]) => findProgram(program, env) !== undefined).map(([, chip]) => chip);
	if (findProgram("idf.py", env) === undefined) {
		return missing("idf.py is not on the PATH", fix);
	}
	if (found.length === 0) {
		return missing("none of its compilers is on the PATH", fix);
	}
	const list = `idf.py, compilers for ${found.join(", ")}`;
	return found.length === compilers.length ? ok(list) : warning(`${list} only`, '"$IDF_PATH/install.sh" all');
};

const port: Check = ({ env: { UPLOAD_PORT }, dev }) => {
	const ports = UPLOAD_PORT ? [UPLOAD_PORT] : listPorts(dev).map(({ path }) => path);
	const usable = ports.filter((path) => existsSync(path));
	if (usable.length === 0) {
		const found = UPLOAD_PORT ? `UPLOAD_PORT is ${UPLOAD_PORT}, which does not exist` : "no USB serial port found";
		return missing(found, "connect the board with a USB data cable");
	}
	const denied = usable.find((path) => !isAllowed(path, constants.R_OK | constants.W_OK));
	return denied === undefined
		? ok(usable.join(", "))
		: missing(`no permission to use ${denied}`, `${permissionCommand(denied)}, then log in again`);
};

const FOR_CHIPS: readonly Purpose[] = ["link", "build", "flash"];
const WITH_SDK: readonly Purpose[] = ["simulator", ...FOR_CHIPS];
const WITH_IDF: readonly Purpose[] = ["build", "flash"];

const CHECKS: readonly (readonly [name: string, purposes: readonly Purpose[], check: Check])[] = [
	["Node.js", PURPOSES, node],
	["C compiler", ["device"], compilerForXs],
	["Moddable SDK", WITH_SDK, sdk],
	["SDK's tools", WITH_SDK, sdkTools],
	["SDK's version", WITH_SDK, sdkVersion],
	["TypeScript", WITH_SDK, typescript],
	["sound", ["simulator"], soundHeaders],
	["display", ["simulator"], display],
	["git", FOR_CHIPS, git],
	["32-bit C", ["link"], compilerFor32Bits],
	["ESP-IDF", WITH_IDF, idf],
	["ESP-IDF's tools", WITH_IDF, idfTools],
	["serial port", ["flash"], port],
];
