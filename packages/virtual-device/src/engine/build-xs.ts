import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism, homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { ROOT } from "xs-mcp/root";
import { type Compiler, compile, findCompiler, type HostBits, NATIVE_BITS } from "./compiler.js";
import {
	Engine,
	EngineError,
	type EngineExit,
	type EngineOptions,
	type Packet,
	type Port,
	type PortEvents,
} from "./engine.js";
import { startXsEngine } from "./xs-engine.js";

/** The host's sources. Paths are absolute. */
interface XsSources {
	/** The .c files of XS and of our host. */
	readonly files: readonly string[];
	/** Folders with headers, ours first. */
	readonly includeFolders: readonly string[];
}

const HOST_FOLDER = join(ROOT, "packages/virtual-device/xs-host");

/** XS in a package of the firmware. In the repository it is in @agoric/xsnap. */
const PACKED = join(ROOT, "virtual-device/xs");

/**
 * Folder of binaries, with one folder for each hash. All projects of a person share it.
 *
 * @internal exported for a test
 */
export const CACHE_FOLDER = existsSync(PACKED)
	? join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "xs-mcp", "xs-host")
	: join(ROOT, ".cache/xs-host");

/** Finds the C sources of XS. Rejects with an `EngineError` `no-sources` where they are not installed. */
async function findXsSources(): Promise<XsSources> {
	try {
		const xs = existsSync(PACKED) ? PACKED : installedXs();
		const folders = [HOST_FOLDER, join(xs, "sources"), join(xs, "includes"), join(xs, "platforms")];
		const files = await Promise.all([HOST_FOLDER, join(xs, "sources")].map((folder) => list(folder, [".c"])));
		return { files: files.flat(), includeFolders: folders };
	} catch (cause) {
		throw new EngineError("no-sources", "The XS sources are not installed (package @agoric/xsnap)", { cause });
	}
}

function installedXs(): string {
	return join(dirname(createRequire(import.meta.url).resolve("@agoric/xsnap/package.json")), "moddable/xs");
}

/** A key for the binary of these sources, compiler and flags: 16 hexadecimal digits. */
async function hashSources(sources: XsSources, settings: readonly string[]): Promise<string> {
	const hash = createHash("sha256").update(JSON.stringify([process.platform, process.arch, ...settings]));
	const lists = await Promise.all(sources.includeFolders.map((folder) => list(folder, [".c", ".h"])));
	for (const file of lists.flat()) {
		hash.update(await readFile(file));
	}
	return hash.digest("hex").slice(0, 16);
}

async function list(folder: string, endings: readonly string[]): Promise<string[]> {
	const names = (await readdir(folder)).filter((name) => endings.some((ending) => name.endsWith(ending)));
	return names.sort().map((name) => join(folder, name));
}

type Progress = (text: string) => void;

const FLAGS = ["-O2", "-w", "-fno-common", "-DINCLUDE_XSPLATFORM", '-DXSPLATFORM="host-platform.h"'];

/** Builds in progress, by folder: concurrent calls share the result. */
const underWay = new Map<string, Promise<void>>();

/**
 * Returns the path of the XS host's binary. If the cache has none, it is compiled first, in about 15 seconds, once for
 * each set of sources, compiler and flags.
 *
 * @param bits size of the machine's pointers; 32 gives the chip's slots of 16 bytes
 * @param onProgress called with lines of text during a build: at its start, and after each quarter of the files
 *
 * Rejects with an `EngineError`: `no-sources`, `no-compiler`, `no-32-bit-compiler`, `no-32-bit-programs` or `compile-failed`.
 *
 * @internal exported for tests and benchmarks
 */
export async function buildXsHost(bits: HostBits = NATIVE_BITS, onProgress?: Progress): Promise<string> {
	const sources = await findXsSources();
	const compiler = await findCompiler(bits);
	const { version, flags, emulator = "" } = compiler;
	const folder = join(CACHE_FOLDER, await hashSources(sources, [version, ...flags, ...FLAGS, emulator]));
	const path = join(folder, "xs-host");
	if (existsSync(path)) {
		return path;
	}
	onProgress?.(`Building the XS engine (${bits}-bit) from its C sources, once: about 20 s …`);
	let building = underWay.get(folder);
	if (!building) {
		building = build(folder, compiler, sources, onProgress).finally(() => underWay.delete(folder));
		underWay.set(folder, building);
	}
	await building;
	return path;
}

/** Prefix of the folders of builds in progress. */
const WORK = "build-";

/** Age at which such a folder belongs to a build that a signal or a crash has interrupted, ms. */
const MAX_WORK_AGE = 3_600_000;

async function removeInterrupted(): Promise<void> {
	for (const folder of await list(CACHE_FOLDER, [""])) {
		// Another process may have finished its build meanwhile.
		const { mtimeMs = Date.now() } = (await stat(folder).catch(() => undefined)) ?? {};
		if (basename(folder).startsWith(WORK) && Date.now() - mtimeMs > MAX_WORK_AGE) {
			await rm(folder, { recursive: true, force: true });
		}
	}
}

/** Builds in a temporary folder and moves the result, so that concurrent processes do not interfere. */
async function build(folder: string, compiler: Compiler, sources: XsSources, onProgress?: Progress): Promise<void> {
	await mkdir(CACHE_FOLDER, { recursive: true });
	await removeInterrupted();
	const work = await mkdtemp(join(CACHE_FOLDER, WORK));
	try {
		const result = join(work, "result");
		await mkdir(result);
		const objects = await compileAll(work, compiler, sources, onProgress);
		const { emulator } = compiler;
		const program = join(result, emulator === undefined ? "xs-host" : "emulated");
		await compile(compiler, [...objects, "-lm", "-o", program], "linking");
		if (emulator !== undefined) {
			const script = `#!/bin/sh\nexec ${emulator} "\${0%/*}/emulated" "$@"\n`;
			await writeFile(join(result, "xs-host"), script, { mode: 0o755 });
		}
		await rename(result, folder).catch((error) => {
			// Another process may have been faster, with the same result.
			if (!existsSync(join(folder, "xs-host"))) {
				throw error;
			}
		});
	} finally {
		await rm(work, { recursive: true, force: true });
	}
}

async function compileAll(
	work: string,
	compiler: Compiler,
	sources: XsSources,
	onProgress?: Progress,
): Promise<string[]> {
	const includes = sources.includeFolders.map((folder) => `-I${folder}`);
	const quarter = Math.ceil(sources.files.length / 4);
	const inTurn = pLimit({ concurrency: availableParallelism(), rejectOnClear: true });
	let count = 0;
	const compileFile = async (file: string): Promise<string> => {
		const object = join(work, `${basename(file, ".c")}.o`);
		await compile(compiler, [...FLAGS, ...includes, "-c", file, "-o", object], basename(file)).catch((error) => {
			inTurn.clearQueue();
			throw error;
		});
		count += 1;
		if (count % quarter === 0) {
			onProgress?.(`  ${count} of ${sources.files.length} files`);
		}
		return object;
	};
	const jobs = sources.files.map((file) => inTurn(compileFile, file));
	// Waits for all jobs, even after a failure: none may still write when the folder is removed.
	await Promise.allSettled(jobs);
	return await Promise.all(jobs);
}

export interface EngineChoice {
	/** Makes a machine of the chosen kind. */
	readonly start: typeof startV8Engine;
	/** Why the engine is not XS; `undefined` when it is. */
	readonly whyNotXs?: string;
}

/**
 * Chooses an engine: XS if it can be built, else V8, with the reason.
 *
 * @param prefer "v8" for V8 in any case
 */
export async function chooseEngine(
	prefer: "xs" | "v8" = "xs",
	{ bits = 64, onProgress }: { readonly bits?: HostBits; readonly onProgress?: (text: string) => void } = {},
): Promise<EngineChoice> {
	if (prefer === "v8") {
		return { start: startV8Engine, whyNotXs: "V8 was asked for" };
	}
	try {
		const hostPath = await buildXsHost(bits, onProgress);
		return { start: (options) => startXsEngine(hostPath, options) };
	} catch (error) {
		if (error instanceof EngineError) {
			return { start: startV8Engine, whyNotXs: error.message };
		}
		throw error;
	}
}

/** Message of v8-worker.mjs. */
type WorkerMessage = { readonly packets: Packet[] } | { readonly trace: string } | { readonly ended: EngineExit };

/** Heap limit of a machine, equal to that of an XS machine without limits. */
const MAX_HEAP_MB = 256;

/**
 * Starts a machine on Node's V8, in a worker thread: for quick tests, and for computers without a C compiler.
 *
 * It differs from a device as V8 does: memory, speed, newer built-ins, and strings of UTF-16 units where XS counts code
 * points. Stack overflow is an exception that the script could catch. Rejects with an `EngineError` of the exit's code
 * where the thread cannot start.
 *
 * @internal exported for a test
 */
export async function startV8Engine(options: EngineOptions = {}): Promise<Engine> {
	const nameOf = ([version]: readonly unknown[]): string => `V8 ${String(version).split(".").slice(0, 2).join(".")}`;
	return await Engine.start((events) => openThread(options, events), options.timeoutMs ?? 10_000, nameOf);
}

function openThread({ onTrace, seed }: EngineOptions, events: PortEvents): Port {
	const worker = new Worker(join(ROOT, "packages/virtual-device/src/engine/v8-worker.mjs"), {
		execArgv: [],
		env: {},
		workerData: { seed },
		resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
	});
	let exit: EngineExit = { code: "crashed", detail: "the thread ended" };
	const terminate = () => {
		// Resolves when the thread has ended, which "exit" reports, too.
		worker.terminate().catch(() => {});
	};
	worker.on("message", (message: WorkerMessage) => {
		if ("packets" in message) {
			events.reply(message.packets);
		} else if ("trace" in message) {
			onTrace?.(message.trace);
		} else {
			exit = message.ended;
			terminate();
		}
	});
	worker.on("error", (error: NodeJS.ErrnoException) => {
		const code = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "out-of-memory" : "crashed";
		exit = { code, detail: error.message };
	});
	worker.on("exit", () => events.ended(exit));
	return {
		send: (command) => {
			worker.postMessage(command.kind === "deliver" ? { ...command, packets: command.packets.map(tighten) } : command);
		},
		kill: terminate,
	};
}

/** Sending a view of a large buffer would copy all of that buffer. */
function tighten(packet: Packet): Packet {
	return packet.bytes ? { header: packet.header, bytes: new Uint8Array(packet.bytes) } : packet;
}
