import { ConfigurationError } from "../config/configuration-error.js";
import {
	FILE,
	inGroup,
	integer,
	nameInCluster,
	PASSWORD,
	setting,
	url,
	withoutPassword,
} from "../config/setting-kinds.js";
import { events } from "../events/plugin.js";
import { definePlugin } from "../plugin.js";
import { clients } from "../transports/plugin.js";
import type { Cluster } from "./cluster.js";

/** The guide with the required NATS permissions. */
const PERMISSIONS = "docs/gateway/cluster.md lists the permissions that a gateway needs";

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
		const { settings, log, servers, store, shortLived, saves } = gateway;
		const { cluster: url = "", clusterPrefix: prefix, clusterReplicas: replicas } = settings;
		if (gateway.connection === undefined) {
			return undefined;
		}
		// A gateway alone does not load NATS.
		const [{ Cluster }, { Bus }, { nameInCluster }, { GATEWAY_INFO }] = await Promise.all([
			import("./cluster.js"),
			import("./bus.js"),
			import("../store/open-stores.js"),
			import("../version.js"),
		]);
		const onRefused = (message: string): void => log.warn(`cluster: ${message}. ${PERMISSIONS}`);
		const cluster = await Cluster.join({
			name: nameInCluster(settings),
			bus: new Bus(gateway.connection, { prefix, replicas, onRefused }),
			store,
			shortLived,
			program: GATEWAY_INFO.version,
			registry: servers,
			log: gateway.use(events).log,
			key: gateway.key.derive("cluster"),
			clients: () => gateway.use(clients).endpoint.sessions,
			info: (message) => log.info(message),
			warn: (message) => log.warn(message),
			onStored: (problem) => saves.note("events", problem),
		}).catch((error: Error) => {
			throw new ConfigurationError([`cluster: ${withoutPassword(url)}: ${error.message}`], { cause: error });
		});
		gateway.on("drain", () => cluster.drain());
		gateway.on("close", () => cluster.close());
		const refused = "Attempts to share a device's lists with the cluster that failed; the log says why";
		gateway.metrics.add("cluster_lists_refused_total", refused, () => servers.refusedLists);
		const isConnected = (): number => Number(cluster.status.connected);
		gateway.metrics.add("cluster_connected", "Whether NATS can be reached", isConnected);
		return cluster;
	},
});
