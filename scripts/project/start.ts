import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { bundleDevicePage } from "../../toolchain/page-bundles.js";
import { ProgramError } from "../../toolchain/program.js";
import { chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";
import { type LocalGateway, openGateway } from "./gateway-process.js";
import { buildProject, openProject, type Project } from "./project.js";
import { watchFolder } from "./watch-folder.js";

/** The command line of `npm start` in a project. */
export interface StartOptions {
	readonly gateway: boolean;
	readonly httpPort: number;
	readonly websocketPort: number;
	/** Undefined: the usual one, or a free one where that is taken. */
	readonly page?: number;
	/** Whether the device's log is shown. */
	readonly verbose: boolean;
}

/** The firmware's stack after its error: functions of the bundle, without lines. */
const FIRMWARE_STACK = /\n +at .*$/s;

/** The usual port of the page. */
const PAGE_PORT = 8768;

/** Milliseconds between two looks at npm's process. */
const ORPHAN_CHECK_INTERVAL = 200;

/** Runs a project on a virtual device until the process is told to end, and again after each change of its files. */
export async function startProject(options: StartOptions): Promise<void> {
	const project = openProject();
	const engine = await chooseEngine("xs", { onProgress: console.error });
	const { firmware, board, warnings } = await buildProject(project).catch(fail);
	warn(warnings);
	const gateway = options.gateway ? await openGateway(options.httpPort, options.websocketPort) : undefined;
	const device = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { ...project.config, backend: gateway?.deviceUrl ?? `ws://127.0.0.1:${options.websocketPort}/` },
		macAddress: macAddressOf(project),
		board,
	});
	report(device, options);
	const page = await openPage(device, options.page);
	await start(device);
	greet(project, { engine: device.engineName, whyNotXs: engine.whyNotXs, page: page.url, gateway });
	watchFolder(project.folder, () => void update(device, project));
	await signalled();
	device.stop();
	gateway?.close();
	process.exit();
}

/** A project's first start: an error in its modules, which is reported, ends nothing, because the next change may cure it. */
async function start(device: VirtualDevice): Promise<void> {
	await device.start().catch(() => {});
}

/** Bundles the project as it is now; after an error the device keeps what it has. */
async function update(device: VirtualDevice, project: Project): Promise<void> {
	try {
		const { firmware, warnings } = await buildProject(project);
		warn(warnings);
		device.flash(firmware);
	} catch (error) {
		console.error(`error: ${(error as Error).message}`);
	}
}

/** Rejects with ProgramError if the port that was asked for is taken. */
async function openPage(device: VirtualDevice, port: number | undefined): Promise<DevicePage> {
	const folder = await bundleDevicePage();
	const open = (port: number): Promise<DevicePage> => DevicePage.open(device, folder, port);
	return await open(port ?? PAGE_PORT).catch((error: Error) =>
		port === undefined ? open(0) : fail(new Error(`--page: ${error.message}`)),
	);
}

function warn(warnings: readonly string[]): void {
	for (const warning of warnings) {
		console.error(`warning: ${warning}`);
	}
}

function report(device: VirtualDevice, { verbose }: StartOptions): void {
	device.on("trace", (line) => verbose && console.log(line));
	device.on("note", (text) => console.log(text));
	device.on("restarted", () => console.log("The device runs with your changes."));
	device.on("exit", ({ code, detail }) =>
		console.error(`error: the device ended: ${code}: ${detail.replace(FIRMWARE_STACK, "")}`),
	);
}

interface Greeting {
	readonly engine: string;
	readonly whyNotXs: string | undefined;
	readonly page: string;
	readonly gateway: LocalGateway | undefined;
}

function greet({ name }: Project, { engine, whyNotXs, page, gateway }: Greeting): void {
	console.log(`${name} runs on ${engine}.`);
	if (whyNotXs !== undefined) {
		console.log(`This is not XS: ${whyNotXs.split("\n")[0]}`);
	}
	console.log(`The device's page: ${page}`);
	if (gateway !== undefined) {
		console.log(`The ${gateway.isOther ? "gateway that runs here" : "gateway's console"}: ${gateway.url}`);
		console.log(`For MCP clients:   ${gateway.url}mcp`);
	}
	console.log("A change of a file restarts the device. Ctrl-C ends it.");
}

/** Settles when the process is told to end, or npm is: that passes a signal to its shell, which ends without telling. */
function signalled(): Promise<void> {
	const parent = process.ppid;
	return new Promise((resolve) => {
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
			process.on(signal, () => resolve());
		}
		if (process.env.npm_lifecycle_event !== undefined) {
			setInterval(() => process.ppid !== parent && resolve(), ORPHAN_CHECK_INTERVAL).unref();
		}
	});
}

/** The same at every start, so that a gateway sees the same device. */
function macAddressOf({ folder }: Project): string {
	const digits = createHash("sha256").update(`${hostname()}\n${folder}`).digest("hex").slice(0, 10);
	return ["02", ...(digits.match(/../g) ?? [])].join(":");
}

/** For an error whose message says what to fix. */
function fail(error: Error): never {
	throw new ProgramError(error.message, { cause: error });
}
