import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isListening, Program } from "../../host-test/e2e/program.js";
import { freePort } from "../../host-test/support/port.js";

/** Third-party programs that serve a stdio server over Streamable HTTP. */
export interface Peer {
	readonly name: string;
	readonly version: string;
	/** The path of its program in the installation folder. */
	readonly program: string;
	/** Its arguments to serve a command on a port. */
	readonly args: (port: number, command: readonly string[]) => string[];
}

/**
 * Neither is a dependency of the project: they bring 200 packages and 100 MB, which `npm ci` need not know of. The bench
 * installs them for itself, once.
 */
export const PEERS: readonly Peer[] = [
	{
		name: "supergateway",
		version: "4.0.0",
		program: "supergateway/dist/index.js",
		// Its log would have every message, which would be measured too.
		args: (port, command) => [
			...["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--port", String(port)],
			...["--stdio", command.map((part) => JSON.stringify(part)).join(" ")],
		],
	},
	{
		name: "mcp-proxy",
		version: "6.7.19",
		program: "mcp-proxy/dist/bin/mcp-proxy.mjs",
		args: (port, command) => ["--host", "127.0.0.1", "--port", String(port), "--server", "stream", "--", ...command],
	},
];

const FOLDER = fileURLToPath(new URL("../../.cache/bench-peers", import.meta.url));

/** Installs the peers into the cache. Returns the reason if that fails. */
export function installPeers(): string | undefined {
	const missing = PEERS.filter(({ program }) => !existsSync(`${FOLDER}/node_modules/${program}`));
	if (missing.length === 0) {
		return undefined;
	}
	const packages = PEERS.map(({ name, version }) => `${name}@${version}`);
	console.error(`Installing ${packages.join(" and ")} into .cache/bench-peers, once …`);
	const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
	const { status, stderr } = spawnSync("npm", ["install", "--prefix", FOLDER, ...flags, ...packages], {
		encoding: "utf8",
		shell: process.platform === "win32",
	});
	return status === 0
		? undefined
		: `${packages.join(" and ")} could not be installed (offline?): ${stderr.split("\n")[0]}`;
}

/** Starts a peer in front of a command. Resolves with where it is. */
export async function startPeer(peer: Peer, command: readonly string[]): Promise<{ program: Program; url: string }> {
	const port = await freePort();
	const args = [`${FOLDER}/node_modules/${peer.program}`, ...peer.args(port, command)];
	const program = await Program.start(args, () => isListening(port));
	return { program, url: `http://127.0.0.1:${port}/mcp` };
}
