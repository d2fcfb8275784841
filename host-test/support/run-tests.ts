import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface RunOptions {
	/** For Node. */
	readonly flags: readonly string[];
	readonly env?: NodeJS.ProcessEnv;
	/** One of Node's reporters, or a module. Default: spec. */
	readonly reporter?: string;
}

/**
 * Runs files of tests in a process of their own, which ends when this one is told to.
 *
 * @param files paths from the project's folder
 * @returns the exit code
 */
export async function runTests(
	files: readonly string[],
	{ flags, env, reporter = "spec" }: RunOptions,
): Promise<number> {
	const args = [...flags, "--import", "./scripts/register.mjs", "--test", `--test-reporter=${reporter}`, ...files];
	const child = spawn(process.execPath, args, { stdio: "inherit", cwd: root, env: { ...process.env, ...env } });
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => child.kill(signal));
	}
	const [code] = (await once(child, "exit")) as [number | null];
	return code ?? 1;
}
