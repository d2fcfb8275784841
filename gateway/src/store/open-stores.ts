import { hostname } from "node:os";
import { join } from "node:path";
import type { NatsConnection } from "@nats-io/transport-node";
import { MemoryStore, type Store } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration.js";
import { withoutPassword } from "../config/setting-kinds.js";
import type { Configuration } from "../config/settings.js";
import { FileStore } from "./file-store.js";
import { importState } from "./import-state.js";

/** Bytes of a cluster's entries: the lists of devices take most of them. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Bytes of what a cluster keeps for minutes. */
const MAX_SHORT_LIVED_BYTES = 32 * 1024 * 1024;

/** Where a gateway keeps everything. */
export interface Stores {
	/** What lasts: in the state folder, or in NATS. */
	readonly store: Store;
	/** What is of use for minutes: in memory, here or in NATS. Readers check when an entry expires. */
	readonly shortLived: Store;
	/** To the NATS of the cluster; undefined: this gateway is alone. */
	readonly connection?: NatsConnection;
}

/** This gateway's name in its cluster. */
export function nameInCluster({ clusterName }: Configuration): string {
	return (
		clusterName ??
		hostname()
			.replace(/[^A-Za-z0-9_-]/g, "-")
			.slice(0, 63)
	);
}

/** Opens the stores. Rejects with ConfigurationError that names the setting. */
export async function openStores(
	configuration: Configuration,
	onWarning: (message: string) => void,
): Promise<Stores & { readonly close: () => Promise<void> }> {
	const { cluster: url, stateFolder } = configuration;
	if (url === undefined) {
		const store = FileStore.open(join(stateFolder, "store"), onWarning);
		await importState(stateFolder, store);
		const shortLived = new MemoryStore();
		return { store, shortLived, close: () => store.close() };
	}
	// A gateway alone does not load NATS.
	const { connectToNats } = await import("../cluster/bus.js");
	const { NatsClock, NatsStore } = await import("../cluster/nats-store.js");
	const { clusterCredentials: credentials, clusterPassword: password, clusterCa: ca } = configuration;
	const { clusterReplicas: replicas } = configuration;
	let opened: NatsConnection | undefined;
	try {
		const connection = await connectToNats({ url, credentials, password, ca, replicas }, nameInCluster(configuration));
		opened = connection;
		const clock = new NatsClock();
		const open = async (name: string, maxBytes: number, storage: "file" | "memory"): Promise<Store> => {
			const store = await NatsStore.open(connection, { name, maxBytes, storage, replicas, clock });
			store.on("warning", onWarning);
			return store;
		};
		const store = await open("xsmcp_store", MAX_BYTES, "file");
		const shortLived = await open("xsmcp_short_lived", MAX_SHORT_LIVED_BYTES, "memory");
		// A change measures the clock of NATS, by which codes and tokens expire.
		await shortLived.set(`clock/${nameInCluster(configuration)}`, true);
		const close = async (): Promise<void> => {
			await Promise.all([store.close(), shortLived.close()]);
			await connection.close();
		};
		return { store, shortLived, connection, close };
	} catch (error) {
		await opened?.close();
		throw new ConfigurationError([`cluster: ${withoutPassword(url)}: ${(error as Error).message}`], { cause: error });
	}
}
