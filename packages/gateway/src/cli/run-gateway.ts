import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { closest, distance } from "fastest-levenshtein";
import { isConflict, type Store } from "xs-mcp-manager/core";
import { localAccess } from "../config/access.js";
import { loadPlugins, readConfiguration } from "../config/configuration.js";
import type { Configuration } from "../config/settings.js";
import { lockStateFolder } from "../config/state-files.js";
import { createGateway } from "../gateway.js";
import { EXIT, GatewayError } from "../gateway-error.js";
import { makeDestination, makeLog, makePrettyFormat } from "../log.js";
import { ConfigurationError, withoutPassword } from "../plugin.js";
import { FileStore } from "../store/file-store.js";
import { importState } from "../store/import-state.js";
import { openStores } from "../store/open-stores.js";
import { serveOverStdio } from "../transports/stdio.js";
import { sourcesFrom } from "./configuration-options.js";
import { print } from "./output.js";

/** Milliseconds in which a second signal is ignored: at Ctrl+C the terminal sends one, and npm or npx another. */
const SAME_SIGNAL = 500;

/** Milliseconds for stopping, beside `drainTime`: with its default, the gateway stops within 12 s. */
const STOP_TIME = 9_000;

/** Letters that differ between a mistyped command and the one that is suggested. */
const MAX_SLIPS = 2;

/** Milliseconds at the end to flush the log. */
const FLUSH_TIME = 500;

/**
 * Runs the gateway until a signal, or until its client disconnects.
 *
 * Rejects with GatewayError if it cannot start.
 */
export async function runGateway(settings: object, { args: [word], parent }: Command): Promise<void> {
	if (word !== undefined) {
		const names = parent?.commands.map((each) => each.name()) ?? [];
		// Commander takes a word after an option for an argument of this command.
		if (names.includes(word)) {
			throw new GatewayError("usage", `expected the command before its options: xs-mcp-gateway ${word} …`);
		}
		const similar = closest(word, names);
		const hint =
			distance(word, similar) <= MAX_SLIPS ? `did you mean ${similar}?` : `expected one of ${names.join(", ")}`;
		throw new GatewayError("usage", `unknown command ${word}: ${hint}`);
	}
	const sources = sourcesFrom(settings);
	const plugins = await loadPlugins(sources);
	const configuration = readConfiguration({ ...sources, plugins });
	// Formatted on a terminal, else JSON.
	const format = process.stderr.isTTY ? await makePrettyFormat(process.stderr.hasColors()) : undefined;
	const destination = makeDestination(process.stderr, format);
	const log = makeLog(configuration.logLevel, destination);
	const stop = signalled();
	const onFolderLost = (): void => void destination.flush(FLUSH_TIME).finally(() => process.exit(EXIT.failed));
	// In a cluster it may wait for NATS.
	const gateway = await Promise.race([createGateway({ settings: configuration, log, plugins, onFolderLost }), stop]);
	if (typeof gateway === "string") {
		log.info(`stopping: ${gateway}`);
		await destination.flush(FLUSH_TIME);
		process.exit(EXIT.ok);
	}
	log.info({ ...gateway.urls, stateFolder: configuration.stateFolder }, "listening");
	if (process.stderr.isTTY) {
		if (gateway.urls.console !== undefined) {
			log.info(`the console is at ${gateway.urls.console}`);
		}
		const { clients, websocket, mqtt } = gateway.urls;
		const forDevices = [websocket, mqtt].filter((url) => url !== undefined).join(" or ") || "the broker";
		log.info(`next: connect an MCP client to ${clients}, and a device to ${forDevices}`);
		log.info("in another terminal, xs-mcp-gateway devices lists devices, xs-mcp-gateway --help lists commands");
	}
	const ends = [stop];
	if (configuration.stdio) {
		const client = serveOverStdio(gateway, localAccess(configuration.userTools));
		process.stdout.on("error", () => void client.close());
		ends.push(client.closed.then(() => "the client disconnected"));
	}
	const why = await Promise.race(ends);
	log.info(`stopping: ${why}`);
	setTimeout(() => {
		log.error("shutdown timed out: closing what is left");
		process.exit(EXIT.failed);
	}, configuration.drainTime + STOP_TIME).unref();
	await gateway.close();
	await destination.flush(FLUSH_TIME);
	process.exit(EXIT.ok);
}

/** Settles at the first signal to stop. Another one ends the process at once. */
function signalled(): Promise<string> {
	return new Promise((resolve) => {
		let first: number | undefined;
		for (const signal of ["SIGINT", "SIGTERM"] as const) {
			process.on(signal, () => {
				first ??= performance.now();
				resolve(signal);
				if (performance.now() - first > SAME_SIGNAL) {
					process.exit(EXIT.failed);
				}
			});
		}
	});
}

/** The room of the store that is copied last, because its records name entries of others. */
const LAST_ROOM = "device";

/**
 * Copies a single gateway's state folder, of this version or the previous one, into the store of the configured cluster.
 * Existing entries of the cluster are kept. Rejects with ConfigurationError or StoreError.
 */
export async function importIntoCluster(configuration: Configuration): Promise<void> {
	const { cluster, stateFolder } = configuration;
	if (cluster === undefined) {
		throw new ConfigurationError(["cluster: name the NATS server of the cluster with --cluster"]);
	}
	const onWarning = (message: string): void => print(message);
	const release = await lockStateFolder(stateFolder, () => {});
	try {
		const { store, close } = await openStores(configuration, onWarning);
		try {
			const copied = await copyEntries(join(stateFolder, "store"), store, onWarning);
			await importState(stateFolder, store, onWarning);
			print(`${copied} entries of ${stateFolder} are new in the store of ${withoutPassword(cluster)}`);
		} finally {
			await close();
		}
	} finally {
		await release();
	}
}

/** Returns the number of entries that were new. */
async function copyEntries(folder: string, to: Store, onWarning: (message: string) => void): Promise<number> {
	const from = FileStore.open(folder, onWarning);
	const rooms = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
	const names = rooms.map(({ name }) => name).sort((a, b) => Number(a === LAST_ROOM) - Number(b === LAST_ROOM));
	let copied = 0;
	for (const { key, value } of names.flatMap((name) => from.list(`${name}/`))) {
		try {
			await to.set(key, value, 0);
			copied += 1;
		} catch (error) {
			if (!isConflict(error)) {
				throw error;
			}
		}
	}
	await from.close();
	return copied;
}
