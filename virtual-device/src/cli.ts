// npm run device: one virtual device against any backend.
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { makeProgram, ProgramError, runProgram } from "../../scripts/program.js";
import { takeCommands } from "./controls.js";
import type { EngineExit, HeapReport } from "./engine/engine.js";
import type { EngineError } from "./engine/engine-error.js";
import { bundle, chooseEngine, type EngineChoice, endBundler, randomMacAddress, VirtualDevice } from "./index.js";

interface Options {
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
	readonly heap?: boolean;
	readonly restart?: boolean;
	readonly firmware?: string;
}

/** Where a virtual device serves clients, as its settings have it. */
interface HttpAddress {
	readonly http: number;
	readonly httpAddress: string;
}

/** Settings of the firmware that `--set` takes: the backend and the token have options of their own. */
const SETTINGS = [
	"clientId",
	"mqttUsername",
	"mqttPassword",
	"publishTopic",
	"subscribeTopic",
	"keepAlive",
	"qos",
	"lastWill",
	"session",
	"listenMode",
	"events",
	"protocolVersion",
	"chunkBytes",
	"otaInterval",
	"serialNumber",
	"hmacKey",
	"mdnsInterface",
	"updateKey",
	"refuseDowngrades",
	"updateTrial",
];

/** The minimum of the setting `chunkBytes`: with less the machine ends during the boot. */
const MIN_CHUNK_BYTES = 32_768;

/** The backend of a board that was built without one. */
const NEW_BACKEND = "ws://127.0.0.1:8765/";

const EPILOGUE = `
Two devices with the same MAC address disconnect each other: start the second one with another --name.`;

const program = makeProgram(
	"run device",
	"Runs one virtual device: the firmware on the XS engine, against any backend.",
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
	.option(
		"--http-token <token>",
		"the bearer token that these clients need; required for an address that is not loopback",
	)
	.addOption(
		new Option("--setup [port]", "start with the set-up page, as a new board does, at this port of 127.0.0.1")
			.argParser(readPort)
			.preset("8080")
			.conflicts("http"),
	)
	.option("--token <token>", "WebSocket: the bearer token, if the backend needs one", "")
	.addOption(
		new Option("--set <name=value>", `another setting of the firmware (repeatable): ${SETTINGS.join(", ")}`)
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
	.option("--uuid <uuid>", "this UUID, over which backends sign tokens (default: one that the device makes and keeps)")
	.option("--settings <file>", "keep volume, brightness, UUID and the like in this file (default: in memory)")
	.addOption(new Option("--engine <engine>", "the JavaScript engine").choices(["xs", "v8"]).default("xs"))
	.addOption(
		new Option("--bits <bits>", "size of the XS machine: 32 has slots of the size that an ESP32 has")
			.choices(["64", "32"])
			.default("64"),
	)
	.option("--slots <count>", "limit of the heap: slots, built-ins included", readPositiveInteger)
	.option("--chunk-bytes <count>", "limit of the heap: bytes for strings, buffers and byte code", readPositiveInteger)
	.option("--seed <number>", "the same random numbers at each start, for a scenario to repeat", readPositiveInteger)
	.option("--firmware <file>", "run another firmware: the TypeScript module to start with (default: src/main.ts)")
	.option("--prompt", "take commands from standard input: press [MILLISECONDS], measure SENSOR VALUE …, say TEXT")
	.option("--heap", "print the heap usage every 10 seconds")
	.option("--restart", "start the device again if its engine ends, as a watchdog would")
	.addHelpText("after", EPILOGUE);

await runProgram(program.action(run));

async function run(options: Options): Promise<void> {
	const { engine: kind, bits, heap, url, otaUrl, http, setup } = options;
	if (url === undefined && otaUrl === undefined && http === undefined && setup === undefined) {
		program.error(
			"error: required option '--url <url>', '--ota-url <url>', '--http <port>' or '--setup' not specified",
		);
	}
	const engine = await chooseEngine(kind, { bits: bits === "32" ? 32 : 64, onProgress: console.error });
	const device = await createDevice(engine, options);
	report(device, options);
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => {
			device.stop();
			process.exit(0);
		});
	}
	try {
		await device.start();
		if (process.exitCode !== undefined) {
			return;
		}
		const why = engine.whyNotXs === undefined ? "" : ` (not XS: ${engine.whyNotXs})`;
		console.log(`device ${device.macAddress} on ${device.engineName}${why}`);
		console.log(`UUID ${device.uuid ?? "unknown"}`);
	} catch (error) {
		// A machine that ended during the boot was reported. One that could not start was not.
		if (process.exitCode === undefined) {
			const { code = "crashed", message } = error as Partial<EngineError>;
			console.error(`the engine ended: ${code}: ${message}`);
			process.exitCode = 1;
		}
		return;
	}
	if (options.prompt) {
		void takeCommands(device, process.stdin);
	}
	if (heap) {
		setInterval(() => void printHeap(device), 10_000);
	}
}

/** Rejects with ProgramError if the settings file cannot be read. */
async function createDevice(engine: EngineChoice, options: Options): Promise<VirtualDevice> {
	const { otaUrl, token, set, uuid, settings, slots, chunkBytes, setup, seed, restart = false } = options;
	const url = options.url ?? (setup === undefined ? undefined : NEW_BACKEND);
	const limits = { ...(slots && { slots }), ...(chunkBytes && { chunkBytes }) };
	const firmware = await bundleFirmware(options.firmware);
	try {
		return new VirtualDevice({
			firmware,
			startEngine: (onTrace) => engine.start({ onTrace, limits, ...(seed !== undefined && { seed }) }),
			config: {
				// The limits of messages follow the heap, as on a chip.
				...(chunkBytes !== undefined && chunkBytes >= MIN_CHUNK_BYTES && { chunkBytes }),
				...set,
				...(otaUrl === undefined ? { backend: url, token } : { otaUrl }),
				...options.http,
				...(setup !== undefined && { setupPort: setup }),
				...(options.httpToken !== undefined && { httpToken: options.httpToken }),
				...(uuid !== undefined && { uuid }),
			},
			watchdog: restart,
			macAddress: options.mac ?? (options.new ? randomMacAddress() : macAddressOf(options.name)),
			...(settings !== undefined && { settingsFile: settings }),
		});
	} catch (error) {
		throw new ProgramError(`--settings: ${(error as Error).message}`, { cause: error });
	}
}

/** Rejects with ProgramError if the module cannot be bundled. */
async function bundleFirmware(file: string | undefined): Promise<string> {
	try {
		return await bundle(file && resolve(file));
	} catch (error) {
		throw new ProgramError(`--firmware: ${(error as Error).message}`, { cause: error });
	} finally {
		await endBundler();
	}
}

function report(device: VirtualDevice, { restart }: Options): void {
	device.on("trace", (line) => console.log(line));
	device.on("note", (text) => console.log(text));
	device.on("screen", ({ state }) => {
		if (state === "fatal_error") {
			// The log names the setting, which only another command line can change.
			process.exitCode = 1;
			device.stop();
		}
	});
	device.on("listenFailed", (message) => {
		console.error(`error: cannot serve HTTP: ${message}`);
		process.exitCode = 1;
		device.stop();
	});
	device.on("restarted", () => console.log(`restarted on ${device.engineName}`));
	device.on("exit", (exit: EngineExit) => {
		console.error(`the engine ended: ${exit.code}: ${exit.detail}`);
		if (!restart) {
			process.exit(1);
		}
	});
}

/** Stable on a computer, so that a gateway sees the same device; different on others. */
function macAddressOf(name: string): string {
	const digits = createHash("sha256").update(`${hostname()}\n${name}`).digest("hex").slice(0, 10);
	// Locally administered, unicast.
	return ["02", ...(digits.match(/../g) ?? [])].join(":");
}

async function printHeap(device: VirtualDevice): Promise<void> {
	const heap = await device.heap().catch(() => undefined);
	if (heap !== undefined) {
		console.log(describeHeap(heap));
	}
}

function describeHeap({ slots, peakSlots, chunkBytes, peakChunkBytes, slotBytes }: HeapReport): string {
	return `heap: ${slots} slots of ${slotBytes} bytes (peak ${peakSlots}), ${chunkBytes} chunk bytes (peak ${peakChunkBytes})`;
}

/** Adds a NAME=VALUE pair, as mcconfig takes it. */
function collectSetting(pair: string, settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	const at = pair.indexOf("=");
	const name = pair.slice(0, at);
	if (at < 1) {
		throw new InvalidArgumentError("Expected NAME=VALUE.");
	}
	if (!SETTINGS.includes(name)) {
		throw new InvalidArgumentError(`Unknown setting ${name}.`);
	}
	return { ...settings, [name]: pair.slice(at + 1) };
}

function readPort(text: string): number {
	const port = Number(text);
	if (!/^[1-9][0-9]{0,4}$/.test(text) || port > 65_535) {
		throw new InvalidArgumentError("Expected a port from 1 to 65535.");
	}
	return port;
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
		throw new InvalidArgumentError("Expected six lower-case pairs with colons.");
	}
	return text;
}

function readPositiveInteger(text: string): number {
	if (!/^[1-9][0-9]{0,8}$/.test(text)) {
		throw new InvalidArgumentError("Expected a whole number from 1 to 999999999.");
	}
	return Number(text);
}
