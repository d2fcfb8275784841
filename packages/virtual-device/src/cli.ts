// npm run device: virtual devices against any backend.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fromProject } from "xs-mcp/build/manifests";
import { bundleDevicePage } from "xs-mcp/build/page-bundles";
import { attempt, failAs, runProgram, signalled } from "xs-mcp/build/program";
import { BOARD_PROFILES, type BoardProfile } from "./boards.js";
import type { EngineError, EngineExit } from "./engine/engine.js";
import {
	bundle,
	chooseEngine,
	type EngineChoice,
	endBundler,
	macAddressOf,
	randomMacAddress,
	readOwnDevice,
	VirtualDevice,
} from "./index.js";
import { type Options, program } from "./options.js";
import { print } from "./prompt-output.js";
import type { prepareScenario } from "./scenario.js";
import { recordSounds } from "./services/sounds.js";

/** Minimum of the setting `chunkBytes`: with less, the machine ends during the boot. */
const MIN_CHUNK_BYTES = 32_768;

/** The backend of a board that was built without one. */
const NEW_BACKEND = "ws://127.0.0.1:8765/";

await runProgram(program.action(run));

async function run(given: Options): Promise<void> {
	const options = given.prompt ? await servingPrompt(given) : given;
	const { engine: kind, bits, url, otaUrl, http, setup, count } = options;
	if (url === undefined && otaUrl === undefined && http === undefined && setup === undefined) {
		program.error(
			"error: required option '--url <url>', '--ota-url <url>', '--http <port>' or '--setup' not specified",
		);
	}
	const engine = await chooseEngine(kind, { bits: bits === "32" ? 32 : 64, onProgress: console.error });
	const scenarios = options.scenario === undefined ? undefined : await import("./scenario.js");
	const scenario = await scenarios?.readScenario(options.scenario ?? "").catch(failAs("--scenario"));
	const { firmware, board } = await bundleFirmware(options);
	const macAddress = options.mac ?? (options.new ? randomMacAddress() : macAddressOf(options.name));
	const devices = Array.from({ length: count }, (_, index) =>
		createDevice(engine, firmware, countedUp(macAddress, index), {
			...options,
			...(board && { profile: board }),
			...scenario,
		}),
	);
	const [first] = devices as [VirtualDevice];
	const steps = scenario && scenarios?.prepareScenario(first, scenario);
	for (const device of devices) {
		report(device, options);
	}
	openSound(first, options);
	void signalled().then(() => {
		for (const device of devices) {
			device.stop();
		}
		process.exit(0);
	});
	await openPage(first, options);
	for (const device of devices) {
		if (!(await start(device, engine))) {
			return;
		}
	}
	if (options.prompt) {
		void takeCommands(first, options);
	}
	if (steps !== undefined) {
		await play(steps, first);
	}
}

/** Options with which the device serves the prompt's client: at a free port, unless an address is given. */
async function servingPrompt(options: Options): Promise<Options> {
	if (options.http !== undefined || options.setup !== undefined) {
		return options;
	}
	const { ownAddress } = await import("./device-client.js");
	return { ...options, ...(await ownAddress()) };
}

/** Runs commands until `quit` or the end of the input, and then ends the program. */
async function takeCommands(device: VirtualDevice, { http, httpToken }: Options): Promise<void> {
	const [{ prompt }, { deviceClient }] = await Promise.all([import("./prompt.js"), import("./device-client.js")]);
	const { failed } = await prompt(
		deviceClient(http && { ...http, httpToken }, true),
		device,
		() => new Map(),
		"end the device",
	);
	device.stop();
	process.exit(process.stdin.isTTY || failed === 0 ? 0 : 1);
}

/** Runs a scenario, and then ends the program. */
async function play(run: ReturnType<typeof prepareScenario>, device: VirtualDevice): Promise<void> {
	try {
		await run(({ line, text }) => console.log(`line ${line}: ${text}`));
		console.log("scenario: passed");
	} catch (error) {
		console.error(`scenario: ${(error as Error).message}`);
		process.exitCode = 1;
	}
	device.stop();
	process.exit();
}

/** @throws ProgramError if a file cannot be used */
function openSound(device: VirtualDevice, { microphone, speaker }: Options): void {
	if (microphone !== undefined) {
		attempt("--microphone", () => device.hear(readFileSync(microphone)));
	}
	if (speaker !== undefined) {
		const recorder = recordSounds((wav) => {
			try {
				writeFileSync(speaker, wav);
			} catch (error) {
				print(`--speaker: ${(error as Error).message}`);
			}
		});
		device.on("samples", (played) => recorder.add(played));
		device.on("silence", () => recorder.end());
	}
}

/** Rejects with ProgramError if the port is taken. */
async function openPage(device: VirtualDevice, { page: port }: Options): Promise<void> {
	if (port === undefined) {
		return;
	}
	const { openDevicePage } = await import("./device-page.js");
	const folder = await bundleDevicePage().finally(endBundler).catch(failAs("--page"));
	const { url } = await openDevicePage(device, folder, port).catch(failAs("--page"));
	console.log(`page ${url}`);
}

/** @returns whether it runs */
async function start(device: VirtualDevice, { whyNotXs }: EngineChoice): Promise<boolean> {
	try {
		await device.start();
	} catch (error) {
		// A machine that ended during the boot was reported. One that could not start was not.
		if (process.exitCode === undefined) {
			const { code = "crashed", message } = error as Partial<EngineError>;
			console.error(`the engine exited: ${code}: ${message}`);
			process.exitCode = 1;
		}
	}
	if (process.exitCode !== undefined) {
		return false;
	}
	const why = whyNotXs === undefined ? "" : ` (not XS: ${whyNotXs})`;
	console.log(`device ${device.macAddress} on ${device.engineName}${why}`);
	console.log(`UUID ${device.uuid ?? "unknown"}`);
	return true;
}

/** @throws ProgramError if the settings file cannot be read */
function createDevice(
	engine: EngineChoice,
	firmware: string,
	macAddress: string,
	options: Options & { readonly profile?: BoardProfile },
): VirtualDevice {
	const { otaUrl, token, set, uuid, settings, slots, chunkBytes, setup, seed, restart = false } = options;
	const url = options.url ?? (setup === undefined ? undefined : NEW_BACKEND);
	const limits = { ...(slots && { slots }), ...(chunkBytes && { chunkBytes }) };
	const board = options.board === undefined ? options.profile : BOARD_PROFILES.get(options.board);
	return attempt(
		"--settings",
		() =>
			new VirtualDevice({
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
				name: program.getOptionValueSource("name") === "cli" ? options.name : undefined,
				watchdog: restart,
				macAddress,
				...(board && { board }),
				...(settings !== undefined && { settingsFile: settings }),
			}),
	);
}

/** The firmware, and the board of the project's device. Rejects with ProgramError if it cannot be bundled. */
async function bundleFirmware({ firmware: file, manifest }: Options) {
	const build = manifest && fromProject(manifest);
	const fail = failAs(file && "--firmware");
	const own = await readOwnDevice(build).catch(fail);
	for (const warning of own?.warnings ?? []) {
		console.error(`warning: ${warning}`);
	}
	const firmware = await bundle(file && resolve(file), false, undefined, build).catch(fail);
	await endBundler();
	return { firmware, board: own?.profile };
}

/** Prints the output of a device. If there are several, its MAC address precedes each line. */
function report(device: VirtualDevice, { restart, count }: Options): void {
	const who = count === 1 ? "" : `${device.macAddress} `;
	device.on("trace", (line) => print(`${who}${line}`));
	device.on("note", (text) => print(`${who}${text}`));
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
	device.on("restarted", () => console.log(`${who}restarted on ${device.engineName}`));
	device.on("exit", (exit: EngineExit) => {
		console.error(`${who}the engine exited: ${exit.code}: ${exit.detail}`);
		if (!restart) {
			process.exit(1);
		}
	});
}

/** Adds `index` to a MAC address. Its first byte, which marks it as locally administered, stays the same. */
function countedUp(macAddress: string, index: number): string {
	const [first, ...others] = macAddress.split(":");
	const counted = (Number.parseInt(others.join(""), 16) + index) % 2 ** 40;
	return [first, ...(counted.toString(16).padStart(10, "0").match(/../g) ?? [])].join(":");
}
