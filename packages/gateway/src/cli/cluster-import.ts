import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isConflict, type Store } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration-error.js";
import { lockStateFolder } from "../config/file-lock.js";
import { withoutPassword } from "../config/setting-kinds.js";
import type { Configuration } from "../config/settings.js";
import { FileStore } from "../store/file-store.js";
import { importState } from "../store/import-state.js";
import { openStores } from "../store/open-stores.js";
import { print } from "./output.js";

/** The room of the store that is copied last: whoever reads a record finds what it names. */
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
