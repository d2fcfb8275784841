import { hostname } from "node:os";
import { join } from "node:path";
import type { NatsConnection } from "@nats-io/transport-node";
import { MemoryStore, portable, type Store } from "xs-mcp-manager/core";
import type { Configuration } from "../config/settings.js";
import { ConfigurationError, withoutPassword } from "../plugin.js";
import { FileStore } from "./file-store.js";
import { importState } from "./import-state.js";

/** Bytes of a cluster's entries: the lists of devices take most of them. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Bytes of what a cluster keeps for minutes. */
const MAX_SHORT_LIVED_BYTES = 32 * 1024 * 1024;

/** Rooms that only the gateway that runs changes; the command line also changes tokens and sign-ins. */
const OWNED = ["device", "alias", "tags", "title", "offers", "event-cursor", "console-session"];

/** Milliseconds between attempts to reach NATS at the start. */
const RETRY_TIME = 500;

/** The stores of a gateway. */
export interface Stores {
	/** Lasting entries: in the state folder, or in NATS. */
	readonly store: Store;
	/** Entries for minutes: in memory, here or in NATS. Readers check when an entry expires. */
	readonly shortLived: Store;
	/** To the NATS of the cluster; undefined: this gateway is alone. */
	readonly connection?: NatsConnection;
}

/** This gateway's name in its cluster. */
export function nameInCluster({ clusterName }: Configuration): string {
	return clusterName ?? portable(hostname(), "-").slice(0, 63);
}

/**
 * Opens the stores. Rejects with ConfigurationError that names the setting.
 *
 * @param onWaiting called once with the reason, if NATS cannot be reached: it is waited for. Default: it is not
 */
export async function openStores(
	configuration: Configuration,
	onWarning: (message: string) => void,
	onWaiting?: (reason: string) => Promise<void>,
): Promise<Stores & { readonly close: () => Promise<void> }> {
	const { cluster: url, stateFolder } = configuration;
	if (url === undefined) {
		const store = FileStore.open(join(stateFolder, "store"), onWarning, OWNED);
		await importState(stateFolder, store, onWarning);
		const shortLived = new MemoryStore();
		return { store, shortLived, close: () => store.close() };
	}
	for (let isFirst = true; ; isFirst = false) {
		try {
			return await openClusterStores(url, configuration, onWarning);
		} catch (error) {
			const reason = `cluster: ${withoutPassword(url)}: ${(error as Error).message}`;
			if (onWaiting === undefined || !isUnreachable(error as Error)) {
				throw new ConfigurationError([reason], { cause: error });
			}
			if (isFirst) {
				await onWaiting(reason);
			}
			await new Promise((resolve) => setTimeout(resolve, RETRY_TIME));
		}
	}
}

/** Opens the stores of a cluster. Rejects with the error of NATS. */
async function openClusterStores(
	url: string,
	configuration: Configuration,
	onWarning: (message: string) => void,
): Promise<Stores & { readonly close: () => Promise<void> }> {
	// A gateway alone does not load NATS.
	const { connectToNats } = await import("../cluster/bus.js");
	const { NatsClock, NatsStore } = await import("../cluster/nats-store.js");
	const { clusterReplicas: replicas, clusterPrefix: prefix } = configuration;
	const connection = await connectToNats(url, nameInCluster(configuration), configuration);
	const clock = new NatsClock();
	const open = async (name: string, max_bytes: number, storage: "file" | "memory"): Promise<Store> => {
		const store = await NatsStore.open(connection, name, { max_bytes, storage, replicas }, clock);
		store.on("warning", onWarning);
		return store;
	};
	try {
		const store = await open(`${prefix}_store`, MAX_BYTES, "file");
		const shortLived = await open(`${prefix}_short_lived`, MAX_SHORT_LIVED_BYTES, "memory");
		// A change measures the clock of NATS, by which codes and tokens expire.
		await shortLived.set(`clock/${nameInCluster(configuration)}`, true);
		const close = async (): Promise<void> => {
			await Promise.all([store.close(), shortLived.close()]);
			await connection.close();
		};
		return { store, shortLived, connection, close };
	} catch (error) {
		await connection.close();
		throw error;
	}
}

/** Whether no server was reached: it may come later. */
function isUnreachable({ name, code, cause }: NodeJS.ErrnoException): boolean {
	const reason = code ?? (cause as NodeJS.ErrnoException | undefined)?.code ?? "";
	return name === "TimeoutError" || /^E(CONN|HOST|NET|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE)/.test(reason);
}
