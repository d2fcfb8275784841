import {
	ConfigurationError,
	definePlugin,
	FILE,
	inGroup,
	integer,
	nameInCluster,
	PASSWORD,
	setting,
	url,
	withoutPassword,
} from "../plugin.js";
import type { Cluster } from "./cluster.js";

/** Joins the cluster, if the settings name one. */
export const cluster = definePlugin({
	name: "cluster",
	settings: inGroup("Several gateways", {
		cluster: setting(url(["nats:", "tls:"]), "URL of a NATS server with JetStream"),
		clusterName: setting(nameInCluster, "Name of this gateway; default: the hostname"),
		clusterPrefix: setting(nameInCluster, "Name of the cluster in NATS, for two clusters on one NATS", "xsmcp"),
		clusterCredentials: setting(FILE, "Credentials file (JWT and NKey) for cluster"),
		clusterPassword: setting(PASSWORD, "Password or token for cluster, if its URL has none"),
		clusterCa: setting(FILE, "CA certificates (PEM) for cluster"),
		clusterReplicas: setting(integer("servers", 1, 5), "NATS servers that keep a copy of the data", 1),
	}),
	setup: async (gateway): Promise<Cluster | undefined> => {
		const { connection, settings, servers, metrics } = gateway;
		if (connection === undefined) {
			return undefined;
		}
		// A gateway alone does not load NATS.
		const { Cluster } = await import("./cluster.js");
		const cluster = await Cluster.join(gateway, connection).catch((error: Error) => {
			throw new ConfigurationError([`cluster: ${withoutPassword(settings.cluster)}: ${error.message}`], {
				cause: error,
			});
		});
		gateway.on("drain", () => cluster.drain());
		gateway.on("close", () => cluster.close());
		const refused = "Attempts to share a device's lists with the cluster that failed; the log says why";
		metrics.add("cluster_lists_refused_total", refused, () => servers.refusedLists);
		metrics.add("cluster_connected", "Whether NATS can be reached", () => Number(cluster.status.connected));
		return cluster;
	},
});
