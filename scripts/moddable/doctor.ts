import { constants, existsSync } from "node:fs";
import { join } from "node:path";
import {
	type Computer,
	findProgram,
	isAllowed,
	isExecutable,
	readExpectedIdf,
	readIdfVersion,
	readVersion,
	readXsVersion,
} from "./computer.js";
import { listPorts, permissionCommand } from "./ports.js";
import { HOSTS } from "./sdk.js";

/** The purpose, which selects the checks. */
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

type Check = (computer: Computer) => Finding;

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

/** Checks the computer. Findings are in the order in which to fix them. */
export function examine(purpose: Purpose, computer: Computer): Finding[] {
	return CHECKS[purpose].map((check) => check(computer));
}

/** The findings as text: a line for each, followed by the command that fixes it. */
export function describeFindings(findings: readonly Finding[]): string {
	return findings
		.map(({ name, status, found, fix }) => {
			const line = `${status.padEnd(8)} ${name}: ${found}`;
			return fix === undefined ? line : `${line}\n${" ".repeat(9)}${fix}`;
		})
		.join("\n");
}

const ok = (name: string, found: string): Finding => ({ name, status: "ok", found });
const missing = (name: string, found: string, fix: string): Finding => ({ name, status: "missing", found, fix });
const warning = (name: string, found: string, fix: string): Finding => ({ name, status: "warning", found, fix });

function node({ nodeVersion }: Computer): Finding {
	const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
	return major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
		? ok("Node.js", nodeVersion)
		: missing("Node.js", `${nodeVersion}, which is older than ${NODE.join(".")}`, "nvm install --lts");
}

/** The virtual device runs on Node's own engine without them. */
function compilerForXs({ env }: Computer): Finding {
	const absent = ["cc", "make"].filter((program) => findProgram(program, env) === undefined);
	return absent.length === 0
		? ok("C compiler", "cc and make, for the XS engine")
		: warning(
				"C compiler",
				`${absent.join(" and ")} not found: the virtual device runs on V8 instead of XS`,
				"sudo apt-get install build-essential",
			);
}

function sdk({ env, platform }: Computer): Finding {
	const fix = "npm install -g xs-dev && xs-dev setup";
	const { MODDABLE } = env;
	if (HOSTS[platform] === undefined) {
		return missing("Moddable SDK", `not used by these programs on ${platform}`, "run mcconfig yourself");
	}
	if (!MODDABLE) {
		return missing("Moddable SDK", "MODDABLE is not set: it must name the SDK's folder", fix);
	}
	return existsSync(MODDABLE)
		? ok("Moddable SDK", MODDABLE)
		: missing("Moddable SDK", `MODDABLE is ${MODDABLE}, which does not exist`, fix);
}

/** @param programs of the SDK that are needed */
function sdkTools(...programs: readonly string[]): Check {
	return ({ env, platform }) => {
		const { MODDABLE = "" } = env;
		const host = HOSTS[platform] ?? "";
		const absent = programs.filter((each) => !isExecutable(join(MODDABLE, "build", "bin", host, "release", each)));
		// Its last tools are built with its first ones, which make looks for on the PATH.
		const fix = `cd "$MODDABLE/build/makefiles/${host}" && PATH="$MODDABLE/build/bin/${host}/release:$PATH" make`;
		return absent.length === 0
			? ok("SDK's tools", programs.join(", "))
			: missing("SDK's tools", `${absent.join(", ")} not built`, fix);
	};
}

/** mcconfig by itself runs the `tsc` on the PATH, and writes settings that version 5 rejects. Programs of npm bring their own. */
function typescript({ env }: Computer): Finding {
	const program = findProgram("tsc", env);
	const fix = "npm install -g typescript";
	if (program === undefined) {
		return warning("TypeScript", "tsc is not on the PATH: mcconfig by itself cannot build", fix);
	}
	const version = readVersion(program);
	return version !== undefined && Number(version.split(".")[0]) >= TYPESCRIPT
		? ok("TypeScript", version)
		: warning(
				"TypeScript",
				`tsc ${version ?? "of an unknown version"}; mcconfig by itself needs ${TYPESCRIPT} or newer`,
				fix,
			);
}

/** The SDK's sources name the engine, but not the SDK's own version. */
function sdkVersion({ env }: Computer): Finding {
	const version = readXsVersion(join(env.MODDABLE ?? "", "xs", "sources", "xsCommon.h"));
	const fix = 'git -C "$MODDABLE" fetch --tags && git -C "$MODDABLE" checkout 8.2.3, then build its tools again';
	if (version === undefined) {
		return warning("SDK's version", "not known", fix);
	}
	return version === XS.major
		? ok("SDK's version", `XS ${version}`)
		: warning("SDK's version", `XS ${version}; the firmware was tried with XS ${XS.tried}`, fix);
}

function display({ env }: Computer): Finding {
	const name = env.DISPLAY || env.WAYLAND_DISPLAY;
	return name
		? ok("display", name)
		: missing("display", "neither DISPLAY nor WAYLAND_DISPLAY is set", "use npm run device, which needs no display");
}

/** The SDK's audio out for Linux is compiled with every build for the simulator. */
function soundHeaders({ include }: Computer): Finding {
	return existsSync(join(include, "alsa", "asoundlib.h"))
		? ok("sound", "ALSA's headers")
		: missing("sound", "alsa/asoundlib.h not found", "sudo apt-get install libasound2-dev");
}

function linux({ platform }: Computer): Finding {
	return platform === "linux"
		? ok("Linux", "starting the simulator")
		: missing("Linux", `npm run simulator does not run on ${platform}`, "mcconfig -d -m");
}

function git({ env }: Computer): Finding {
	return findProgram("git", env) === undefined
		? missing("git", "not found", "sudo apt-get install git")
		: ok("git", "found");
}

/** Boards are measured with a 32-bit object of their constant data. */
function compilerFor32Bits({ env, include }: Computer): Finding {
	const headers = [include, join(include, "x86_64-linux-gnu")].map((folder) => join(folder, "gnu", "stubs-32.h"));
	return findProgram("gcc", env) !== undefined && headers.some((header) => existsSync(header))
		? ok("32-bit C", "gcc with 32-bit headers")
		: missing("32-bit C", "not found: npm run boards cannot measure", "sudo apt-get install gcc-multilib");
}

function idf({ env }: Computer): Finding {
	const wanted = readExpectedIdf(env.MODDABLE);
	const clone = `git clone -b v${wanted} --recursive https://github.com/espressif/esp-idf.git ~/esp32/esp-idf`;
	const fix = `${clone} && ~/esp32/esp-idf/install.sh && export IDF_PATH=~/esp32/esp-idf`;
	const { IDF_PATH } = env;
	if (!IDF_PATH || !existsSync(IDF_PATH)) {
		const found = IDF_PATH ? `IDF_PATH is ${IDF_PATH}, which does not exist` : "IDF_PATH is not set";
		return missing("ESP-IDF", found, fix);
	}
	const version = readIdfVersion(IDF_PATH);
	if (version?.startsWith(`${wanted}.`)) {
		return ok("ESP-IDF", version);
	}
	const update = `git -C "$IDF_PATH" checkout v${wanted} && git -C "$IDF_PATH" submodule update --init --recursive`;
	return missing(
		"ESP-IDF",
		version === undefined ? `no ESP-IDF in ${IDF_PATH}` : `${version}, and the SDK expects ${wanted}`,
		version === undefined ? fix : `${update} && "$IDF_PATH/install.sh"`,
	);
}

function idfTools({ env }: Computer): Finding {
	const fix = '. "$IDF_PATH/export.sh"';
	const compilers = Object.entries(COMPILERS);
	const found = compilers.filter(([program]) => findProgram(program, env) !== undefined).map(([, chip]) => chip);
	if (findProgram("idf.py", env) === undefined) {
		return missing("ESP-IDF's tools", "idf.py is not on the PATH", fix);
	}
	if (found.length === 0) {
		return missing("ESP-IDF's tools", "none of its compilers is on the PATH", fix);
	}
	const list = `idf.py, compilers for ${found.join(", ")}`;
	return found.length === compilers.length
		? ok("ESP-IDF's tools", list)
		: warning("ESP-IDF's tools", `${list} only`, '"$IDF_PATH/install.sh" all');
}

function port({ env, dev }: Computer): Finding {
	const wanted = env.UPLOAD_PORT;
	const ports = wanted ? [wanted] : listPorts(dev).map(({ path }) => path);
	const usable = ports.filter((path) => existsSync(path));
	if (usable.length === 0) {
		const found = wanted ? `UPLOAD_PORT is ${wanted}, which does not exist` : "no USB serial port found";
		return missing("serial port", found, "connect the board with a USB data cable");
	}
	const denied = usable.find((path) => !isAllowed(path, constants.R_OK | constants.W_OK));
	return denied === undefined
		? ok("serial port", usable.join(", "))
		: missing("serial port", `no permission to use ${denied}`, `${permissionCommand(denied)}, then log in again`);
}

const FOR_LINK: readonly Check[] = [node, sdk, sdkTools("mcconfig", "xsc", "xsl"), sdkVersion, typescript, git];
const FOR_BUILD: readonly Check[] = [...FOR_LINK, idf, idfTools];

const CHECKS: Readonly<Record<Purpose, readonly Check[]>> = {
	device: [node, compilerForXs],
	simulator: [node, linux, sdk, sdkTools("mcconfig", "mcsim"), sdkVersion, typescript, soundHeaders, display],
	link: [...FOR_LINK, compilerFor32Bits],
	build: FOR_BUILD,
	flash: [...FOR_BUILD, port],
};
