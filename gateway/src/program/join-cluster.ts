import type { Cluster } from "../cluster/cluster.js";
import { ConfigurationError } from "../config/configuration.js";
import { withoutPassword } from "../config/setting-kinds.js";
import { DeviceKey } from "../devices/device-key.js";
import { nameInCluster } from "../store/open-stores.js";
import { GATEWAY_INFO } from "../version.js";
import type { ProgramContext } from "./context.js";
import type { Core } from "./open-core.js";

/**
 * Joins the cluster, if the settings name one. Rejects with ConfigurationError.
 *
 * @param clients the number of clients' sessions
 */
export async function joinCluster(
	{ configuration, log, saves }: ProgramContext,
	core: Core,
	clients: () => number,
): Promise<Cluster | undefined> {
	const { cluster: url, clusterCredentials, clusterPassword, clusterCa, clusterReplicas } = configuration;
	if (url === undefined) {
		return undefined;
	}
	// A gateway alone does not load NATS.
	const { Cluster } = await import("../cluster/cluster.js");
	const key = new DeviceKey(configuration.stateFolder);
	try {
		return await Cluster.join({
			url,
			name: nameInCluster(configuration),
			credentials: clusterCredentials,
			password: clusterPassword,
			ca: clusterCa,
			replicas: clusterReplicas,
			program: GATEWAY_INFO.version,
			registry: core.gateway.servers,
			stateFolder: configuration.stateFolder,
			...core.events,
			key: key.derive("cluster"),
			webhookKey: key.derive("webhooks"),
			clients,
			info: (message) => log.info(message),
			warn: (message) => log.warn(message),
			onStored: (problem) => saves.shared(problem),
		});
	} catch (error) {
		throw new ConfigurationError([`cluster: ${withoutPassword(url)}: ${(error as Error).message}`], { cause: error });
	}
}
