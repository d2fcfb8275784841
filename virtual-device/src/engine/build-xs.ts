import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EngineError } from "./engine-error.js";

const run = promisify(execFile);

export interface BuildOptions {
	/** 64, or 32 for slots of the size an ESP32 has. */
	readonly bits: 64 | 32;
	/** Told once when there is something to wait for. */
	readonly onProgress?: (text: string) => void;
}

interface Toolchain {
	readonly compiler: string;
	/** What the compiler says of its version: part of the cache's key. */
	readonly version: string;
	readonly flags: readonly string[];
}

const HOST = fileURLToPath(new URL("../../xs-host/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../.cache/xs-host/", import.meta.url));

/** Sources that the host does not want: snapshots, and a debugger for which it has no connection. */
const LEFT_OUT = new Set(["xsSnapshot.c"]);

/**
 * The path of the XS host's program, which is compiled the first time and whenever its sources, the compiler or the
 * flags have changed.
 *
 * Rejects with `EngineError`: "no-sources", "no-compiler", "no-32-bit-compiler", "compile-failed".
 */
export async function buildXsHost({ bits, onProgress }: BuildOptions): Promise<string> {
	const xs = findSources();
	const toolchain = await findCompiler(bits, xs);
	const sources = await listSources(xs);
	const folder = join(CACHE, await cacheKey(xs, toolchain));
	const program = join(folder, "xs-host");
	if (!existsSync(program)) {
		onProgress?.(`Building the XS engine (${bits}-bit) from its C sources, once: about 20 s …`);
		await compile(sources, toolchain, folder);
	}
	return program;
}

/** The `xs` folder of the npm package. */
function findSources(): string {
	try {
		const manifest = createRequire(import.meta.url).resolve("@agoric/xsnap/package.json");
		return join(dirname(manifest), "moddable", "xs");
	} catch (cause) {
		throw new EngineError("no-sources", "@agoric/xsnap, which holds XS's sources, is not installed", { cause });
	}
}

async function findCompiler(bits: 64 | 32, xs: string): Promise<Toolchain> {
	const candidates = [process.env.CC ?? "", "cc", "gcc", "clang"].filter((name) => name !== "");
	for (const compiler of candidates) {
		const version = await run(compiler, ["--version"]).then(
			({ stdout }) => stdout,
			() => undefined,
		);
		if (version !== undefined) {
			return { compiler, version, flags: flags(bits, xs) };
		}
	}
	throw new EngineError("no-compiler", `no C compiler found (tried ${candidates.join(", ")})`);
}

function flags(bits: 64 | 32, xs: string): string[] {
	return [
		...(bits === 32 ? ["-m32"] : []),
		"-O2",
		"-fno-common",
		"-w",
		"-DINCLUDE_XSPLATFORM",
		'-DXSPLATFORM="host-platform.h"',
		`-I${HOST}`,
		`-I${join(xs, "includes")}`,
		`-I${join(xs, "platforms")}`,
		`-I${join(xs, "sources")}`,
	];
}

async function listSources(xs: string): Promise<string[]> {
	const folders = [join(xs, "sources"), HOST];
	const lists = await Promise.all(
		folders.map(async (folder) =>
			(await readdir(folder))
				.filter((name) => name.endsWith(".c") && !LEFT_OUT.has(name))
				.map((name) => join(folder, name)),
		),
	);
	return lists.flat();
}

/** The npm package is told by its version; our own sources by what they hold. */
async function cacheKey(xs: string, { compiler, version, flags }: Toolchain): Promise<string> {
	const hash = createHash("sha256");
	const manifest = JSON.parse(await readFile(join(xs, "..", "..", "package.json"), "utf8")) as { version: string };
	hash.update(JSON.stringify([manifest.version, compiler, version, flags.filter((flag) => !flag.startsWith("-I"))]));
	for (const name of (await readdir(HOST)).sort()) {
		hash.update(name).update(await readFile(join(HOST, name)));
	}
	return hash.digest("hex").slice(0, 16);
}

/** Compiles next to the cache and moves the folder in: of two processes that build at once, one wins and both are served. */
async function compile(sources: readonly string[], toolchain: Toolchain, folder: string): Promise<void> {
	await mkdir(CACHE, { recursive: true });
	const temporary = await mkdtemp(join(CACHE, "building-"));
	try {
		const objects = sources.map((_, at) => join(temporary, `${at}.o`));
		await inParallel(sources, (source, at) => cc(toolchain, ["-c", source, "-o", objects[at] as string]));
		await cc(toolchain, [
			"-o",
			join(temporary, "xs-host"),
			...objects,
			"-lm",
			"-lpthread",
			...(process.platform === "linux" ? ["-ldl"] : []),
		]);
		await Promise.all(objects.map((object) => rm(object)));
		await rename(temporary, folder);
	} catch (error) {
		await rm(temporary, { recursive: true, force: true });
		if (!existsSync(join(folder, "xs-host"))) {
			throw error;
		}
	}
}

async function inParallel<T>(items: readonly T[], work: (item: T, at: number) => Promise<void>): Promise<void> {
	let next = 0;
	const worker = async (): Promise<void> => {
		for (let at = next++; at < items.length; at = next++) {
			await work(items[at] as T, at);
		}
	};
	await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

async function cc({ compiler, flags }: Toolchain, args: readonly string[]): Promise<void> {
	try {
		await run(compiler, [...flags, ...args]);
	} catch (cause) {
		const { stderr = "" } = cause as { stderr?: string };
		const code = flags.includes("-m32") ? "no-32-bit-compiler" : "compile-failed";
		throw new EngineError(code, `${compiler} failed: ${stderr.trim().split("\n").slice(0, 5).join("\n")}`, { cause });
	}
}
