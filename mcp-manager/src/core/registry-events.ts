import type { CallDetails, CallRecord } from "./call-record.js";
import type { Server } from "./server.js";
import type { ServerEdit } from "./server-directory.js";
import type { Session } from "./session.js";

/** Events of a registry of servers. */
export interface RegistryEvents {
	/** A session has begun. */
	connected: [server: Server, session: Session];
	/** A session has ended. `isLeaving`: the server was online, and is offline now; never while the registry closes. */
	disconnected: [server: Server, session: Session, reason: string, isLeaving: boolean];
	/** A server can be called. */
	online: [server: Server];
	/**
	 * A server sent a notification; progress and cancellation go to their calls. `isState`: it has changed the content of
	 * `device://ALIAS/state`.
	 */
	notification: [server: Server, method: string, params: Readonly<Record<string, unknown>>, isState: boolean];
	/** A server sent progress of a call, or cancelled a request of its own. */
	requestNotification: [server: Server, method: string, params: Readonly<Record<string, unknown>>];
	/** Servers, tools or names have changed: once for a burst of changes. The version of the registry has increased. */
	changed: [];
	/** The operator has given a server another alias, other tags, or both. */
	edited: [server: Server, change: ServerEdit];
	/** A server was forgotten. */
	forgotten: [id: string];
	/** A resource of a server that clients have subscribed to has been updated. */
	updated: [server: Server, uri: string];
	/** A call has ended. */
	call: [record: CallRecord, details: CallDetails];
	/** A connection or a message was rejected. */
	rejected: [description: string];
	/** A record was stored, or why it could not be. */
	saved: [error: Error | undefined];
	/** A warning, other than a failed call. */
	warning: [message: string];
}
