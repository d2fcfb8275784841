/** A gateway of the cluster, for the operator. */
interface MemberSummary {
	readonly name: string;
	readonly version: string;
	/** ISO 8601. */
	readonly since: string;
	readonly devices: number;
	readonly clients: number;
	/** Calls for clients of other gateways in progress. */
	readonly calls: number;
	readonly draining: boolean;
}

/** The cluster, as a gateway sees it. */
export interface ClusterStatus {
	readonly name: string;
	/** Whether NATS can be reached. */
	readonly connected: boolean;
	/** This gateway first. */
	readonly gateways: readonly MemberSummary[];
}
