import type { ServerRegistry, Session } from "xs-mcp-manager/core";
import type { Bus } from "./bus.js";
import type { Claims } from "./claims.js";
import type { IncomingCalls } from "./incoming-calls.js";
import { SUBJECTS, VERSION } from "./messages.js";
import type { Remotes } from "./remotes.js";

interface ShareDevicesOptions {
	/** The name of this gateway. */
	readonly gateway: string;
	readonly registry: ServerRegistry;
	readonly claims: Claims;
	readonly remotes: Remotes;
	readonly incoming: IncomingCalls;
	readonly bus: Bus;
}

/** Milliseconds until the cluster is asked for a device that another gateway has lost. */
const RETRY_TIME = 1_000;

/** Lists are read again when the entry of their device says so. */
const LIST_CHANGED = /\/list_changed$/;

/** Tells the cluster what happens to the devices that are connected to this gateway: they come, go and send notifications. */
export function shareDevices({ gateway, registry, claims, remotes, incoming, bus }: ShareDevicesOptions): void {
	registry.on("online", (server) => {
		const { session } = server;
		if (session !== undefined && isHere(session)) {
			claims.begin(server, session);
		}
	});
	registry.on("disconnected", (_server, session) => {
		const { id } = session.identity;
		if (isHere(session)) {
			incoming.deviceGone(id);
			claims.end(session);
		}
		// Another gateway may have the device. A session that fails at once does so once a second.
		setTimeout(() => remotes.recheck(id), isHere(session) ? 0 : RETRY_TIME).unref();
	});
	registry.on("notification", ({ id, session }, method, params) => {
		const claim = claims.claimOf(id);
		if (claim !== undefined && session !== undefined && isHere(session) && !LIST_CHANGED.test(method)) {
			const event = { v: VERSION, device: id, claim, method, params };
			if (bus.connected && Buffer.byteLength(JSON.stringify(event)) <= bus.maxBytes) {
				bus.publish(SUBJECTS.event(gateway), event);
			}
		}
	});
}

/** Whether a session is with a device that is connected to this gateway. */
function isHere({ identity }: Session): boolean {
	return identity.gateway === undefined && identity.configured !== true;
}
