import { resolve } from "node:path";
import type { ServerConfig } from "./server-config.js";

/** Bytes in a megabyte. */
const MB = 1024 * 1024;

/**
 * The command of a configured server inside what limits it: bubblewrap, and prlimit. Both have to be installed; if they are
 * not, the server cannot be started, and the error names what is missing.
 */
export function isolated({ command, args, cwd, isolation }: ServerConfig): {
	command: string;
	args: readonly string[];
} {
	let words = [command, ...args];
	if (isolation.sandbox === "bubblewrap") {
		const folder = resolve(cwd ?? ".");
		const files = [
			"--ro-bind",
			"/",
			"/",
			"--dev",
			"/dev",
			"--proc",
			"/proc",
			"--tmpfs",
			"/tmp",
			"--bind",
			folder,
			folder,
		];
		words = ["bwrap", ...files, "--unshare-all", "--die-with-parent", "--chdir", folder, "--", ...words];
	}
	const limits = [
		...(isolation.memory === undefined ? [] : [`--as=${isolation.memory * MB}`]),
		...(isolation.cpuTime === undefined ? [] : [`--cpu=${isolation.cpuTime}`]),
	];
	if (limits.length > 0) {
		words = ["prlimit", ...limits, "--", ...words];
	}
	return { command: words[0] as string, args: words.slice(1) };
}
