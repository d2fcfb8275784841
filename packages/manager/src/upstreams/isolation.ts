import { resolve } from "node:path";
import type { ServerConfig } from "./server-config.js";

const MB = 1024 * 1024;

/** Paths that programs need to start: no settings, passwords or user files. */
const SYSTEM_FILES = [
	...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"],
	...["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/localtime"],
];

const CONFINED = "--cap-drop ALL --unshare-all --die-with-parent".split(" ");

/**
 * Wraps a configured server's command in bubblewrap and prlimit. If one is not installed, the server cannot be started,
 * and the error names it.
 */
export function isolated({ command, args, cwd, isolation }: ServerConfig) {
	let words = [command, ...args];
	if (isolation.sandbox === "bubblewrap") {
		const folder = resolve(cwd ?? ".");
		const readable = [...SYSTEM_FILES, ...(isolation.readable ?? []).map((path) => resolve(path))];
		const files = [
			...readable.flatMap((path) => ["--ro-bind-try", path, path]),
			...["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", folder, folder],
		];
		words = ["bwrap", ...files, ...CONFINED, "--chdir", folder, "--", ...words];
	}
	const limits = [
		// Not the address space: Node.js reserves gigabytes of it, and uses a small part.
		...(isolation.memory === undefined ? [] : [`--data=${isolation.memory * MB}`]),
		...(isolation.cpuTime === undefined ? [] : [`--cpu=${isolation.cpuTime}`]),
	];
	if (limits.length > 0) {
		words = ["prlimit", ...limits, "--", ...words];
	}
	return { command: words[0] as string, args: words.slice(1) };
}
