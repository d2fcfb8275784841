// The module "xs-mcp/test" of a project.
import { once } from "node:events";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { chooseEngine, type EngineChoice, endBundler, VirtualDevice } from "xs-mcp-virtual-device";
import { deviceClient, ownAddress } from "xs-mcp-virtual-device/device-client";
import type { PinState } from "xs-mcp-virtual-device/pins";
import { buildProject, openProject, type ProjectBuild } from "./project.js";

/** Options of a test's device. */
export interface TestDeviceOptions {
	/** The project's folder. Default: where the tests run. */
	readonly folder?: string;
	/** Settings in addition to those of the manifest. */
	readonly config?: Readonly<Record<string, unknown>>;
}

/** A tool, as the device lists it (MCP, `tools/list`). */
export interface ListedTool {
	readonly name: string;
	readonly title?: string;
	readonly description?: string;
	readonly inputSchema: object;
	readonly outputSchema?: object;
	readonly annotations?: object;
}

/** A project on a virtual device, for its tests. */
export interface TestDevice {
	/** The lines of its log. */
	readonly log: readonly string[];
	listTools(): Promise<ListedTool[]>;
	/**
	 * Calls a tool. Resolves with its result: a text, or the parsed value of JSON. Rejects with Error if the tool fails or the
	 * arguments are wrong, with the message that a client gets, or if the device has ended, with the reason.
	 */
	call(name: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
	/** The pins that it has opened. */
	readonly pins: readonly PinState[];
	/**
	 * The level of a pin: 0 or 1, or a value of its kind.
	 *
	 * @param part the name of the part that has it, or its number
	 * @throws Error that names the open pins if it is not open
	 */
	read(part: string | number): PinState["value"];
	/**
	 * Sets an input or the readings of a sensor.
	 *
	 * @param value of a pin: 0 or 1, 0 to 4,095 of an analog pin, the pulses of a counter, or the line that a serial port
	 * receives. Of a sensor: readings by name, `{ temperature: 21 }`, or null to unplug it
	 * @throws Error if there is no such input, sensor or reading, RangeError if the value is out of range
	 */
	set(part: string | number, value: number | string | Readonly<Record<string, number>> | null): void;
	/**
	 * Presses and releases a button, which takes no time here. Resolves when its handlers have been called.
	 *
	 * @param milliseconds how long it is down: from 2,000 on it is a long press. Default 100
	 * @throws Error that names the buttons if there is no such one
	 */
	press(button: string, milliseconds?: number): Promise<void>;
	/** Lets time pass at once: the device's timers fire, and its clock shows that time. */
	tick(seconds: number): Promise<void>;
	/** Switches it off. */
	close(): void;
}

/** Milliseconds that a button is down, and until its release counts. */
const PRESS_TIME = 100;

/** Longest call of a tool, ms. */
const CALL_TIMEOUT = 300_000;

/**
 * Starts the project on a virtual device, on XS if this computer has a C compiler. Rejects with Error if one of its files
 * is wrong, or the firmware does not start.
 */
export async function openDevice({ folder, config }: TestDeviceOptions = {}): Promise<TestDevice> {
	const project = openProject(folder);
	const engine = await chooseEngine("xs", { onProgress: console.error });
	const build = await buildProject(project).finally(endBundler);
	const log: string[] = [];
	const { device, listTools, call } = await startDevice(build, engine, (line) => log.push(line), config);
	return {
		log,
		listTools,
		call,
		get pins() {
			return device.pins;
		},
		read(part) {
			const found = device.pins.find(({ part: name, pin }) => name === part || pin === part);
			if (found === undefined) {
				const open = device.pins.map(({ part: name, pin }) => name ?? pin).join(", ") || "none";
				throw new Error(`${part}: the device has opened no such pin; open: ${open}`);
			}
			return found.value;
		},
		set(part, value) {
			if (typeof value === "object") {
				device.setChip(part, value);
			} else {
				device.setPin(part, value);
			}
		},
		async press(button, milliseconds = PRESS_TIME) {
			device.hold(button, true);
			await device.pass(milliseconds);
			device.hold(button, false);
			await device.pass(PRESS_TIME);
		},
		tick: (seconds) => device.pass(seconds * 1_000),
		close: () => device.stop(),
	};
}

/** A project on a virtual device, with a client for its tools. */
export interface StartedDevice extends Pick<TestDevice, "listTools" | "call"> {
	readonly device: VirtualDevice;
}

/**
 * Starts the program of a project on a virtual device. Rejects with Error if the firmware does not start.
 *
 * @param onTrace called with each line of its log
 * @param config settings in addition to those of the manifest
 */
export async function startDevice(
	{ firmware, board, config: ownConfig }: ProjectBuild,
	engine: EngineChoice,
	onTrace: (line: string) => void,
	config?: TestDeviceOptions["config"],
): Promise<StartedDevice> {
	const { http, httpToken } = await ownAddress();
	const device = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { ...ownConfig, ...config, ...http, httpToken },
		board,
	});
	device.on("trace", onTrace);
	await device.start().catch((error) => {
		device.stop();
		throw error;
	});
	const connect = deviceClient({ ...http, httpToken });
	const ended = once(device, "exit").then(([{ code, detail }]) => `the device ended: ${code}: ${detail}`);
	const ask = async <Answer>(what: string, request: (client: Client) => Promise<Answer>): Promise<Answer> =>
		await Promise.race([
			ended.then((reason) => {
				throw new Error(`${what}: ${reason}`);
			}),
			connect().then(request),
		]);
	return {
		device,
		listTools: async () => (await ask("tools/list", (client) => client.listTools())).tools,
		call: async (name, args = {}) =>
			readResult(await ask(name, (client) => client.callTool({ name, arguments: args }, { timeout: CALL_TIMEOUT }))),
	};
}

function readResult({ content, isError }: CallToolResult): unknown {
	const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
	if (isError) {
		throw new Error(text);
	}
	if (content.some(({ type }) => type !== "text")) {
		return content;
	}
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
