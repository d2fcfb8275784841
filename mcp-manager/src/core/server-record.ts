import type { Offers } from "./offers.js";
import type { ServerInfo } from "./server-transport.js";

/** The record of a server, kept while it is offline and across restarts. */
export interface ServerRecord {
	/** See {@link ServerIdentity.id}. */
	readonly id: string;
	/** How clients address it. No two servers share one. */
	readonly alias: string;
	/** The operator's tags, shared with other servers: "upstairs". Absent: none. */
	readonly tags?: readonly string[];
	/** The server's own name and version: of a device, its board and firmware version. */
	readonly board: ServerInfo;
	readonly offers: Offers;
	/** When it was last seen, in milliseconds since 1970. While it is online: when it came online. */
	readonly lastSeen: number;
}

/** A server's notification. */
export interface Notification {
	readonly method: string;
	readonly params: Readonly<Record<string, unknown>>;
}

/** A notification of a button or a sensor. */
export interface DeviceEvent extends Notification {
	/** When it arrived, in milliseconds since 1970. */
	readonly time: number;
}
