import type { ClusterStatus } from "../cluster/status.js";
import { HttpError } from "../http/http-error.js";
import type { Route } from "../http/route.js";

/** The cluster as it is now; undefined if the gateway is alone. */
export type ClusterSource = () => ClusterStatus | undefined;

/** `GET /cluster`: the gateways of the cluster, for a token that can access all devices. */
export function showCluster(source: ClusterSource): Route {
	return (c) => {
		if (c.var.admission.access.devices !== undefined) {
			throw new HttpError(403, "token", "the cluster requires a token for all devices");
		}
		const status = source();
		if (status === undefined) {
			throw new HttpError(404, "not-found", "this gateway is alone (setting cluster)");
		}
		return c.json(status);
	};
}
