import type { Cluster } from "../cluster/cluster.js";
import { ConfigurationError } from "../config/configuration.js";
import { withoutPassword } from "../config/setting-kinds.js";
import { DeviceKey } from "../devices/device-key.js";
import { nameInCluster } from "../store/open-stores.js";
import { GATEWAY_INFO } from "../version.js";
import type { ProgramContext } from "./context.js";
import type { Core } from "./open-core.js";

/** Where an operator finds the required NATS permissions. */
const PERMISSIONS = "docs/gateway/cluster.md lists the permissions that a gateway needs";

/**
 * Joins the cluster, if the settings name one. Rejects with ConfigurationError.
 *
 * @param clients the number of clients' sessions
 */
export async function joinCluster(
	{ configuration, log, store, shortLived, connection, saves }: ProgramContext,
	core: Core,
	clients: () => number,
): Promise<Cluster | undefined> {
	const { cluster: url = "", clusterPrefix: prefix, clusterReplicas: replicas } = configuration;
	if (connection === undefined) {
		return undefined;
	}
	// A gateway alone does not load NATS.
	const [{ Cluster }, { Bus }] = await Promise.all([import("../cluster/cluster.js"), import("../cluster/bus.js")]);
	const onRefused = (message: string): void => log.warn(`cluster: ${message}. ${PERMISSIONS}`);
	try {
		return await Cluster.join({
			name: nameInCluster(configuration),
			bus: new Bus(connection, { prefix, replicas, onRefused }),
			store,
			shortLived,
			program: GATEWAY_INFO.version,
			registry: core.gateway.servers,
			log: core.events.log,
			key: new DeviceKey(configuration.stateFolder).derive("cluster"),
			clients,
			info: (message) => log.info(message),
			warn: (message) => log.warn(message),
			onStored: (problem) => saves.note("events", problem),
		});
	} catch (error) {
		throw new ConfigurationError([`cluster: ${withoutPassword(url)}: ${(error as Error).message}`], { cause: error });
	}
}
