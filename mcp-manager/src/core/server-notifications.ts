import type { ServerRegistry } from "./registry.js";
import type { Notification, Server } from "./server.js";

const STATE_CHANGED = "notifications/state_changed";

/** Notifications of buttons, sensors, switches, serial lines, timers and the conversation, which are forwarded to clients. */
const EVENTS = new Set(
	["button_pressed", "sensor_changed", "switch_changed", "line_received", "timer_due", "said"].map(
		(event) => `notifications/${event}`,
	),
);

/** Characters of an event's params, as JSON. */
const MAX_EVENT = 1_024;

/** Characters of a device's state that are stored. */
const MAX_STATE = 64;

/**
 * Keeps the state or the event that a server's notification reports.
 *
 * @returns whether the content of `device://ALIAS/state` has changed
 * @throws RangeError for an event that is too long to keep
 */
export function keepState(server: Server, { method, params }: Notification): boolean {
	if (method === STATE_CHANGED && typeof params.newState === "string") {
		server.state = params.newState.slice(0, MAX_STATE);
	} else if (!EVENTS.has(method)) {
		return false;
	} else if (JSON.stringify(params).length > MAX_EVENT) {
		throw new RangeError(`${method} is too long (limit ${MAX_EVENT} characters)`);
	} else {
		server.event = { method, params, time: Date.now() };
	}
	// A server may speak before it is known: then it has no name yet under which clients could be told.
	return server.known;
}

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
