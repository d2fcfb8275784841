import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chooseEngine, type EngineChoice, macAddressOf, VirtualDevice } from "xs-mcp-virtual-device";
import { openDevicePage } from "xs-mcp-virtual-device/device-page";
import { bundleDevicePage } from "./build/page-bundles.js";
import { failAs, ProgramError, readJson, signalled } from "./build/program.js";
import { buildProject, findTypeErrors, openProject, type Project, type ProjectBuild } from "./project.js";

/** The command line of `npm start` in a project. */
export interface StartOptions {
	readonly gateway: boolean;
	readonly httpPort: number;
	readonly websocketPort: number;
	/** Undefined: the usual one, or the next free one where that is taken. */
	readonly page?: number;
	/** Whether the device's log is shown. */
	readonly verbose: boolean;
}

/** The firmware's stack after its error: functions of the bundle, without lines. */
const FIRMWARE_STACK = /\n +at .*$/s;

/** Prefix of the line of the firmware's log that says why it cannot work: src/core/application.ts. */
const FATAL = "fatal error: ";

/** End of the line of the log that names a part which does not answer: src/hardware/parts/part.ts. */
const RETRIED = "; tried again";

/** Runs a project on a virtual device until the process is told to end, and again after each change of its files. */
export async function startProject(options: StartOptions): Promise<void> {
	const project = openProject();
	const engine = await chooseEngine("xs", { onProgress: console.error });
	await Promise.race([runProject(project, engine, options), signalled()]);
	process.exit();
}

/** Rejects with ProgramError if page or gateway cannot be opened. */
async function runProject(project: Project, engine: EngineChoice, options: StartOptions): Promise<never> {
	const builds = buildsOf(project);
	const { value: first } = await builds.next();
	const gateway = options.gateway ? await openGateway(options.httpPort, options.websocketPort) : undefined;
	const backend = gateway?.deviceUrl ?? `ws://127.0.0.1:${options.websocketPort}/`;
	const placed = ({ config, board }: ProjectBuild) => ({ config: { ...config, backend }, board });
	const device = new VirtualDevice({
		firmware: first.firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		macAddress: macAddressOf(project.folder),
		...placed(first),
	});
	process.once("exit", () => device.stop());
	const tellRuns = report(device, first.name, engine, options);
	const folder = await bundleDevicePage();
	const page = await openDevicePage(device, folder, options.page, gateway?.url).catch(failAs("--page"));
	// An error in its modules is reported, but ends nothing, because the next change may fix it.
	await device.start().then(tellRuns, () => {});
	greet(page.url, gateway);
	for await (const build of builds) {
		device.flash(build.firmware, placed(build));
	}
	throw new Error("unreachable: builds never end");
}

/**
 * Builds a project now and after each change of its files, one build after the other. An error is printed but ends
 * nothing, because the next change may fix it. An unchanged result is dropped, so that an edit of notes restarts no
 * device, and the output of `npm start` may be a file in the folder.
 */
async function* buildsOf(project: Project): AsyncGenerator<ProjectBuild, never> {
	const folder = new EventEmitter();
	watchFolder(project.folder, () => folder.emit("change"));
	const checkTypes = typeChecker(project.folder);
	let last = "";
	for (;;) {
		const changed = once(folder, "change");
		void checkTypes();
		const build = await buildProject(project).catch(({ message }: Error) => message);
		const result = JSON.stringify(build);
		if (result !== last && typeof build === "string") {
			tellError(build);
		} else if (result !== last && typeof build === "object") {
			warn(build.warnings);
			yield build;
		}
		last = result;
		await changed;
	}
}

/** Returns a function that prints a project's type errors while it runs, unless they are the same as the last time. */
function typeChecker(folder: string): () => Promise<void> {
	let last = "";
	let newest = 0;
	return async () => {
		newest += 1;
		const run = newest;
		const errors = await findTypeErrors(folder);
		// A later change is checked separately.
		if (run === newest && errors !== last) {
			last = errors;
			console.error(errors === "" ? "The types are correct again." : errors.replace(/^(?=\S)/gm, "type error: "));
		}
	};
}

function warn(warnings: readonly string[]): void {
	for (const warning of warnings) {
		console.error(`warning: ${warning}`);
	}
}

function tellError(message: string): void {
	console.error(`error: ${message}`);
	console.error("Waiting for a change of a file.");
}

/** Prints the events of a device. @returns a function to call when it runs for the first time */
function report(
	device: VirtualDevice,
	name: string,
	{ whyNotXs }: EngineChoice,
	{ verbose }: StartOptions,
): () => void {
	let hasRun = false;
	const tellRuns = (): void => {
		console.log(hasRun ? "The device runs with your changes." : `${name} runs on ${device.engineName}.`);
		if (!hasRun && whyNotXs !== undefined) {
			console.log(`This is not XS: ${whyNotXs.split("\n")[0]}`);
		}
		hasRun = true;
	};
	device.on("trace", (line) => {
		if (line.startsWith(FATAL)) {
			tellError(line.slice(FATAL.length));
		} else if (line.endsWith(RETRIED)) {
			console.error(`warning: part ${line}`);
		} else if (verbose) {
			console.log(line);
		}
	});
	device.on("note", (text) => console.log(text));
	device.on("restarted", tellRuns);
	device.on("exit", ({ code, detail }) =>
		tellError(`the device ended: ${code}: ${detail.replace(FIRMWARE_STACK, "")}`),
	);
	return tellRuns;
}

function greet(page: string, gateway: LocalGateway | undefined): void {
	console.log(`The device's page: ${page}`);
	if (gateway !== undefined) {
		console.log(`The ${gateway.isOther ? "gateway that runs here" : "gateway's console"}: ${gateway.url}`);
		console.log(`For MCP clients:   ${gateway.url}mcp`);
	}
	console.log("A change of a file restarts the device. Ctrl-C ends it.");
}

/** Folders in which a project's sources are not: what is installed, and what is made. */
const NO_SOURCES = new Set(["node_modules", "build", "dist"]);

/** Debounce of file changes, ms: an editor writes a file in several steps. */
const SETTLED = 60;

/** Maximum number of watched folders: with more, it is not a project's folder. */
const MAX_FOLDERS = 500;

/**
 * Watches a project's folder and those in it, as long as the process runs.
 *
 * @param onChange called after changes, once for a burst of them
 */
function watchFolder(folder: string, onChange: () => void): void {
	const watchers = new Map<string, FSWatcher>();
	let timer: NodeJS.Timeout | undefined;
	const changed = (name: string | null): void => {
		// The device's own settings, an editor's copies and version control are no sources.
		if (name === null || !isSource(name)) {
			return;
		}
		clearTimeout(timer);
		timer = setTimeout(() => {
			add(folder);
			onChange();
		}, SETTLED);
	};
	const add = (path: string): void => {
		if (!watchers.has(path) && watchers.size < MAX_FOLDERS) {
			const watcher = watch(path, (_, name) => changed(name));
			watcher.on("error", () => {
				watcher.close();
				watchers.delete(path);
			});
			watchers.set(path, watcher);
		}
		for (const entry of readdirSync(path, { withFileTypes: true })) {
			if (entry.isDirectory() && isSource(entry.name)) {
				add(join(path, entry.name));
			}
		}
	};
	add(folder);
}

function isSource(name: string): boolean {
	return !name.startsWith(".") && !name.endsWith("~") && !NO_SOURCES.has(name);
}

const PACKAGE = "xs-mcp-gateway";

/** Polling interval for a gateway that starts, ms. */
const POLL_INTERVAL = 100;

/** Addresses of a gateway on this computer. */
interface LocalGateway {
	/** For a browser; clients use /mcp there. */
	readonly url: string;
	readonly deviceUrl: string;
	/** Whether it ran before. */
	readonly isOther: boolean;
}

/**
 * Finds the gateway that runs on this computer, or starts the one that is installed. Rejects with ProgramError if there is
 * none, or it ends while it starts.
 */
async function openGateway(httpPort: number, devicePort: number): Promise<LocalGateway> {
	const url = `http://127.0.0.1:${httpPort}/`;
	const deviceUrl = `ws://127.0.0.1:${devicePort}/`;
	if (await answers(url)) {
		return { url, deviceUrl, isOther: true };
	}
	const args = [findProgram(), "--http-port", String(httpPort), "--websocket-port", String(devicePort)];
	const child = spawn(process.execPath, [...args, "--log-level", "warn"], { stdio: ["ignore", "inherit", "inherit"] });
	process.once("exit", () => child.kill());
	while (!(await answers(url))) {
		if (child.exitCode !== null || child.signalCode !== null) {
			throw new ProgramError("the gateway ended: its error is above. --no-gateway starts the device alone");
		}
		await delay(POLL_INTERVAL);
	}
	return { url, deviceUrl, isOther: false };
}

async function answers(url: string): Promise<boolean> {
	try {
		const { status, headers } = await fetch(`${url}healthz`);
		return status === 200 && headers.get("content-type")?.includes("json") === true;
	} catch {
		return false;
	}
}

/** @throws ProgramError if it is not installed */
function findProgram(): string {
	const folders = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
	const installed = folders.map((folder) => join(folder, PACKAGE)).find((path) => existsSync(path));
	if (installed === undefined) {
		throw new ProgramError(
			`no gateway runs, and none is installed: npm install ${PACKAGE}, or start with --no-gateway`,
		);
	}
	const { bin } = readJson<{ bin: Record<string, string> }>(join(installed, "package.json"));
	return join(installed, String(bin[PACKAGE]));
}
