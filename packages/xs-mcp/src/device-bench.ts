import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { chooseEngine, type VirtualDevice } from "xs-mcp-virtual-device";
import { readAction } from "xs-mcp-virtual-device/actions";
import { type DevicePage, openDevicePage } from "xs-mcp-virtual-device/device-page";
import { bundleDevicePage } from "./build/page-bundles.js";
import { ProgramError } from "./build/program.js";
import { buildProject, type Project } from "./project.js";
import { type ListedTool, type StartedDevice, startDevice } from "./test-device.js";

/** Lines of the log that are kept, and characters of a line. */
const MAX_LINES = 500;
const MAX_LINE = 500;

/** Lines of the log in the error of a device that does not start. */
const LINES_SHOWN = 10;

/** Milliseconds for a call of a tool of the device. Clients give up after 60 s by default. */
const CALL_TIMEOUT = 50_000;

/** The virtual device of a project, which an agent starts and stops, with its log. */
export class DeviceBench {
	/** The last lines of the log of the last device. */
	readonly log: string[] = [];
	readonly #inTurn = pLimit(1);
	#running: (StartedDevice & { readonly page: DevicePage }) | undefined;

	/**
	 * Starts a project from its current files, in place of a running device. Rejects with Error that names the fault.
	 *
	 * @returns warnings about its parts and settings
	 */
	async start(project: Project): Promise<readonly string[]> {
		return await this.#inTurn(async () => {
			this.halt();
			this.log.length = 0;
			const add = (line: string): void => this.#add(line);
			const engine = await chooseEngine("xs", { onProgress: add });
			const build = await buildProject(project);
			const folder = await bundleDevicePage();
			const started = await startDevice(build, engine, add).catch((error) => this.#explain(error));
			const { device, listTools } = started;
			const page = await openDevicePage(device, folder, 0).catch((error) => {
				device.stop();
				throw error;
			});
			this.#running = { ...started, page };
			device.on("note", add);
			device.on("exit", ({ code, detail }) => {
				add(`the device ended: ${code}: ${detail}`);
				this.halt();
			});
			await listTools().catch((error) => {
				this.halt();
				this.#explain(error);
			});
			return build.warnings;
		});
	}

	/** Stops the device, even one that is still starting. */
	async stop(): Promise<void> {
		await this.#inTurn(() => this.halt());
	}

	/** Stops the device at once. */
	halt(): void {
		this.#running?.device.stop();
		this.#running?.page.close();
		this.#running = undefined;
	}

	/** The device's engine, page for people, pins and sensors. @throws ProgramError if no device runs */
	get state(): Pick<VirtualDevice, "pins" | "chips"> & { engine: string; page: string } {
		const { device, page } = this.#expect();
		return { engine: device.engineName, page: page.url, pins: device.pins, chips: device.chips };
	}

	/** Performs an action of {@link readAction} on the device. Rejects with Error that names the field. */
	async act(action: string, value: unknown): Promise<void> {
		await readAction(action, value, [action])(this.#expect().device);
	}

	/** Lists the tools of the device. Rejects with Error if it does not serve them. */
	async listTools(): Promise<ListedTool[]> {
		return await this.#expect().listTools();
	}

	/** Calls a tool of the device. Rejects with Error if the tool fails or takes too long, or the device ends. */
	async call(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
		const { call } = this.#expect();
		const end = new AbortController();
		try {
			return await Promise.race([
				call(name, args),
				delay(CALL_TIMEOUT, undefined, { signal: end.signal }).then(() => {
					throw new ProgramError(`${name}: no answer in ${CALL_TIMEOUT / 1000} s`);
				}),
			]);
		} finally {
			end.abort();
		}
	}

	#expect() {
		if (this.#running === undefined) {
			const hasEnded = this.log.length > 0 ? ": it was stopped, or has ended, and read_log has the reason" : "";
			throw new ProgramError(`no device runs${hasEnded}. start_device starts one`);
		}
		return this.#running;
	}

	/** @throws ProgramError that also has the end of the log */
	#explain({ message }: Error): never {
		throw new ProgramError([message, "The end of its log:", ...this.log.slice(-LINES_SHOWN)].join("\n"));
	}

	#add(text: string): void {
		this.log.push(...text.split("\n").map((line) => line.slice(0, MAX_LINE)));
		this.log.splice(0, this.log.length - MAX_LINES);
	}
}
