import { InvalidArgumentError, Option } from "commander";
import { makeProgram, readPort } from "xs-mcp/build/program";
import { unknownSettings } from "xs-mcp-firmware/core/settings-table";
import { BOARD_PROFILES, readBoard } from "./boards.js";

/** The command line of a virtual device. */
export interface Options {
	readonly url?: string;
	readonly otaUrl?: string;
	readonly http?: HttpAddress;
	readonly httpToken?: string;
	readonly setup?: number;
	readonly token: string;
	readonly set: Readonly<Record<string, string>>;
	readonly name: string;
	readonly new?: boolean;
	readonly mac?: string;
	readonly uuid?: string;
	readonly settings?: string;
	readonly engine: "xs" | "v8";
	readonly bits: "64" | "32";
	readonly slots?: number;
	readonly chunkBytes?: number;
	readonly seed?: number;
	readonly prompt?: boolean;
	readonly restart?: boolean;
	readonly firmware?: string;
	readonly manifest?: string;
	readonly board?: string;
	readonly count: number;
	readonly page?: number;
	readonly scenario?: string;
	readonly microphone?: string;
	readonly speaker?: string;
}

/** Address at which a virtual device serves clients, by its settings. */
export interface HttpAddress {
	readonly http: number;
	readonly httpAddress: string;
}

/** Devices of one process. */
const MAX_COUNT = 10_000;

const EPILOGUE = `
Two devices with the same MAC address disconnect each other: start the second one with another --name.`;

const BOARDS = [...BOARD_PROFILES.keys()];

/** `npm run device`: its options, without what it does. */
export const program = makeProgram(
	"npm run device --",
	"Runs a virtual device: the firmware on the XS engine, against any backend.",
)
	.option("--url <url>", "the backend: ws://…, wss://…, mqtt://… or mqtts://…; mdns: finds a gateway")
	.addOption(
		new Option("--ota-url <url>", "where the device asks for its backend: http://… or https://…").conflicts("url"),
	)
	.option(
		"--http <[address:]port>",
		"serve MCP clients directly at http://ADDRESS:PORT/mcp (default address: 127.0.0.1)",
		readHttpAddress,
	)
	.option("--http-token <token>", "bearer token of these clients; required beyond loopback")
	.addOption(
		new Option("--setup [port]", "start with the set-up page, as a new board does, at this port of 127.0.0.1")
			.argParser(readPort)
			.preset("8080")
			.conflicts("http"),
	)
	.option("--token <token>", "WebSocket: the bearer token, if the backend needs one", "")
	.addOption(
		new Option("--set <name=value>", "another setting of the firmware (repeatable): docs/moddable.md has them")
			.argParser(collectSetting)
			.default({}, "none"),
	)
	.option("--name <name>", "device name; its MAC address is derived from it", "device")
	.addOption(new Option("--new", "a random MAC address, for this run only").conflicts(["name", "mac"]))
	.addOption(
		new Option("--mac <address>", "this MAC address, for example 02:12:34:56:78:9a")
			.argParser(readMacAddress)
			.conflicts("name"),
	)
	.option("--uuid <uuid>", "UUID of the device, to which some backends bind tokens (default: generated and kept)")
	.option("--settings <file>", "keep volume, brightness, UUID and the like in this file (default: in memory)")
	.addOption(new Option("--engine <engine>", "the JavaScript engine").choices(["xs", "v8"]).default("xs"))
	.addOption(
		new Option("--bits <bits>", "word size of the XS machine; an ESP32 has 32").choices(["64", "32"]).default("64"),
	)
	.option("--slots <count>", "limit of the heap: slots, built-ins included", positiveInteger())
	.option("--chunk-bytes <count>", "limit of the heap: bytes for strings, buffers and byte code", positiveInteger())
	.option("--seed <number>", "seed of the random numbers, for repeatable scenarios", positiveInteger())
	.option("--firmware <file>", "run another firmware: the TypeScript module to start with (default: src/main.ts)")
	.addOption(
		new Option("--manifest <file>", "run a build of your own, such as one with a device: its manifest.json").conflicts(
			"firmware",
		),
	)
	.addOption(
		new Option("--board <name>", 'the board whose parts the device has (default: "virtual", or the device\'s own)')
			.choices(BOARDS)
			.argParser((text) => readBoard(text, BOARDS)),
	)
	.addOption(
		new Option("--count <number>", "devices in this process, with consecutive MAC addresses")
			.argParser(positiveInteger(MAX_COUNT))
			.default(1)
			.conflicts(["http", "setup", "settings", "uuid", "prompt"]),
	)
	.addOption(
		new Option(
			"--page [port]",
			"serve a page with its screen, buttons, sensors and messages, at this port of 127.0.0.1",
		)
			.argParser(readPort)
			.preset("8768")
			.conflicts("count"),
	)
	.addOption(
		new Option("--scenario <file>", "run a scenario (YAML) and exit: 0 if its expectations are met").conflicts([
			"count",
			"prompt",
		]),
	)
	.addOption(
		new Option(
			"--microphone <file>",
			"a WAV file that the device hears, in real time, when it listens first (needs the package libopus-wasm)",
		).conflicts("count"),
	)
	.addOption(
		new Option("--speaker <file>", "write the last sound that the device has played into this WAV file").conflicts(
			"count",
		),
	)
	.option("--prompt", "take commands from standard input, such as list, call TOOL, press and quit; help names them")
	.option("--restart", "restart the device if its engine exits, as a watchdog would")
	.addHelpText("after", EPILOGUE);

/** Adds a NAME=VALUE pair, as mcconfig takes it. */
function collectSetting(pair: string, settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	const at = pair.indexOf("=");
	const name = pair.slice(0, at);
	if (at < 1) {
		throw new InvalidArgumentError("Expected NAME=VALUE.");
	}
	if (unknownSettings({ [name]: "" }).length > 0) {
		throw new InvalidArgumentError(`Unknown setting ${name}.`);
	}
	return { ...settings, [name]: pair.slice(at + 1) };
}

function readHttpAddress(text: string): HttpAddress {
	const match = /^(?:(.+):)?([1-9][0-9]{0,4})$/.exec(text);
	const port = Number(match?.[2]);
	if (match === null || port > 65_535) {
		throw new InvalidArgumentError("Expected a port from 1 to 65535, or ADDRESS:PORT.");
	}
	return { http: port, httpAddress: match[1] ?? "127.0.0.1" };
}

function readMacAddress(text: string): string {
	if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(text)) {
		throw new InvalidArgumentError("Expected a MAC address in lower case: 02:12:34:56:78:9a.");
	}
	return text;
}

function positiveInteger(maximum = 999_999_999): (text: string) => number {
	return (text) => {
		if (!/^[1-9][0-9]{0,8}$/.test(text) || Number(text) > maximum) {
			throw new InvalidArgumentError(`Expected a whole number from 1 to ${maximum}.`);
		}
		return Number(text);
	};
}
