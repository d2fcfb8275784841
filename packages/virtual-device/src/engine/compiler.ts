import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { EngineError } from "./engine.js";

const run = promisify(execFile);

/** Size of a machine's pointers. */
export type HostBits = 64 | 32;

/** A working C compiler. */
export interface Compiler {
	/** The program and its first arguments, since $CC may be "ccache gcc". */
	readonly command: readonly string[];
	/** Its version, in one line. */
	readonly version: string;
	/** Flags for the requested pointer size. */
	readonly flags: readonly string[];
	/** The path of the program that runs what it builds; undefined if this computer does. */
	readonly emulator: string | undefined;
}

/** Runs programs of 32 bits where the kernel does not: QEMU's, in the package qemu-user. */
const EMULATOR = "qemu-i386";

/** The default of this computer. */
export const NATIVE_BITS: HostBits = process.arch === "arm" || process.arch === "ia32" ? 32 : 64;

/**
 * Finds the compiler: $CC where that is set, else `cc`, `gcc` or `clang`.
 *
 * Rejects with an `EngineError`: `no-compiler`, or `no-32-bit-compiler` where it cannot link programs of 32 bits, or
 * `no-32-bit-programs` where this computer cannot run them, and has no emulator that does.
 */
export async function findCompiler(bits: HostBits = NATIVE_BITS): Promise<Compiler> {
	const candidates = process.env.CC ? [process.env.CC] : ["cc", "gcc", "clang"];
	for (const candidate of candidates) {
		const command = candidate.trim().split(/\s+/);
		const version = await readVersion(command);
		if (version === undefined) {
			continue;
		}
		if (bits === NATIVE_BITS) {
			return { command, version, flags: [], emulator: undefined };
		}
		const flags = [`-m${bits}`];
		return { command, version, flags, emulator: await emulatorFor({ command, flags }, bits) };
	}
	throw new EngineError("no-compiler", `No C compiler found: tried ${candidates.join(", ")}`);
}

/** Runs the compiler; an `EngineError` `compile-failed` carries its output. `what` names the step in that error. */
export async function compile(
	{ command, flags }: Pick<Compiler, "command" | "flags">,
	args: readonly string[],
	what: string,
): Promise<void> {
	const [program = "cc", ...first] = command;
	try {
		await run(program, [...first, ...flags, ...args]);
	} catch (cause) {
		const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
		throw new EngineError("compile-failed", `${program} failed at ${what}: ${said.split("\n")[0]}`, { cause });
	}
}

async function readVersion([program = "cc", ...first]: readonly string[]): Promise<string | undefined> {
	try {
		const { stdout } = await run(program, [...first, "--version"]);
		return stdout.split("\n")[0];
	} catch {
		return undefined; // not installed, or no compiler: the next candidate may be
	}
}

/**
 * Links a small program and runs it: compilers accept -m32 without its libraries, and not every kernel runs the result.
 *
 * @returns the emulator that it needs; undefined if it needs none
 */
async function emulatorFor(compiler: Pick<Compiler, "command" | "flags">, bits: HostBits): Promise<string | undefined> {
	const folder = await mkdtemp(join(tmpdir(), "xs-mcp-"));
	const program = join(folder, "probe");
	try {
		const source = join(folder, "probe.c");
		await writeFile(
			source,
			'#include <math.h>\n#include <stdio.h>\nint main(void) { return printf("%f", sin(0)) < 0; }\n',
		);
		await compile(compiler, [source, "-lm", "-o", program], `a ${bits}-bit program`);
		return await findEmulator(program, bits);
	} catch (cause) {
		if (bits === 64 || (cause instanceof EngineError && cause.code === "no-32-bit-programs")) {
			throw cause;
		}
		throw new EngineError("no-32-bit-compiler", "The C compiler cannot build 32-bit programs; install gcc-multilib", {
			cause,
		});
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

async function findEmulator(program: string, bits: HostBits): Promise<string | undefined> {
	try {
		await run(program);
		return undefined;
	} catch (cause) {
		try {
			const { stdout } = await run("sh", ["-c", `command -v ${EMULATOR}`]);
			await run(stdout.trim(), [program]);
			return stdout.trim();
		} catch {
			const how = (cause as Error).message.split("\n")[0];
			const message = `This computer cannot run ${bits}-bit programs: ${how}; install qemu-user, which can`;
			throw new EngineError("no-32-bit-programs", message, { cause });
		}
	}
}
