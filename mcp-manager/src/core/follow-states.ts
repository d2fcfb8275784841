import type { ServerRegistry } from "./registry.js";
import type { Server } from "./server.js";
import type { Notification } from "./server-record.js";

/**
 * Calls back whenever the content of `device://ALIAS/state` has changed.
 *
 * @param listener `cause` is the server's notification of the change, if it sent one
 * @returns a function that stops it
 */
export function followStates(
	servers: ServerRegistry,
	listener: (server: Server, cause?: Notification) => void,
): () => void {
	const online = (server: Server): void => listener(server);
	const notified = (server: Server, method: string, params: Notification["params"], isState: boolean): void => {
		if (isState) {
			listener(server, { method, params });
		}
	};
	const disconnected = (server: Server, _session: unknown, _reason: string, isLeaving: boolean): void => {
		if (isLeaving) {
			listener(server);
		}
	};
	servers.on("online", online);
	servers.on("notification", notified);
	servers.on("disconnected", disconnected);
	return () => {
		servers.off("online", online);
		servers.off("notification", notified);
		servers.off("disconnected", disconnected);
	};
}
