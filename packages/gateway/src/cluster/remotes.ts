import type { Msg } from "@nats-io/transport-node";
import type { Server, ServerRegistry, Store } from "xs-mcp-manager/core";
import type { Bus } from "./bus.js";
import { CLAIM } from "./claims.js";
import type { Members } from "./members.js";
import { type Claim, claimSchema, type Entry, eventSchema, readMessage, type Self } from "./messages.js";
import { RemoteConnection } from "./remote-connection.js";

/** Milliseconds until the cluster is asked for a device whose session has failed. */
const RETRY_TIME = 1_000;

/** Devices of other gateways, as servers of the registry: those with a claim of a gateway that is present. */
export type Remotes = ReturnType<typeof openRemotes>;

/**
 * Opens the sessions with devices of other gateways.
 *
 * @param self answers to calls of an earlier process are dropped
 * @param store the short-lived one
 */
export function openRemotes(self: Self, bus: Bus, registry: ServerRegistry, members: Members, store: Store) {
	/** The sessions, by device. */
	const connections = new Map<string, RemoteConnection>();
	/** The same by number, which is in the ids of their calls. */
	const byNumber = new Map<number, RemoteConnection>();
	let count = 0;
	let isClosed = false;

	const readClaims = () =>
		store.list(CLAIM).map(({ key, revision, value }) => {
			return { key, revision, id: key.slice(CLAIM.length), claim: claimSchema.safeParse(value).data };
		});

	/** Whether another gateway has claimed a device, and has not ended since. */
	const isPresent = ({ gateway, incarnation }: Claim): boolean =>
		gateway !== self.name && members.has(gateway, incarnation);

	const connect = (entry: Entry, { offers }: Server): void => {
		count += 1;
		const number = count;
		const replyTo = bus.subjects.reply(self.name, `${self.incarnation}_${number}_`);
		const connection = new RemoteConnection(entry, offers, bus, replyTo, () => {
			byNumber.delete(number);
			if (connections.get(entry.id) === connection) {
				connections.delete(entry.id);
			}
		});
		connections.set(entry.id, connection);
		byNumber.set(number, connection);
		registry.connect(connection);
	};

	/** Brings the session with a device in line with its claim. */
	const apply = (id: string): void => {
		const current = registry.get(id)?.connection;
		// A device in a session with this gateway is not remote.
		if (isClosed || (current !== undefined && current.identity.gateway === undefined)) {
			return;
		}
		const claim = claimSchema.safeParse(store.get(CLAIM + id)?.value).data;
		const isOnline = claim !== undefined && isPresent(claim);
		const connection = connections.get(id);
		if (connection !== undefined && (!isOnline || connection.claim !== claim.claim)) {
			connection.close(isOnline ? "the device has connected again" : "the device or its gateway has gone");
		}
		const server = registry.find(id);
		if (!isOnline || server === undefined) {
			return;
		}
		const { board, offers } = server;
		const entry: Entry = { ...claim, id, board, offers: registry.hashOf(offers) };
		const open = connections.get(id);
		if (open === undefined) {
			connect(entry, server);
		} else {
			open.update(entry, offers);
		}
	};

	/** Compares every device with its claim. */
	const applyAll = (): void => {
		for (const id of new Set([...readClaims().map(({ id }) => id), ...connections.keys()])) {
			apply(id);
		}
	};

	return {
		applyAll,
		/** Follows the claims of others. Returns what ends it. */
		start(): () => void {
			const onRead = ({ id }: Server): void => apply(id);
			registry.on("read", onRead);
			const unwatch = store.watch(CLAIM, (key) => apply(key.slice(CLAIM.length)));
			applyAll();
			return () => {
				registry.off("read", onRead);
				unwatch();
			};
		},
		/** A gateway has come, gone, or started again. */
		gatewayChanged(gateway: string): void {
			for (const { id } of readClaims().filter(({ claim }) => claim?.gateway === gateway)) {
				apply(id);
			}
		},
		/** A session of a device has ended: another gateway may have the device. A remote one that fails at once is tried later. */
		sessionEnded(id: string, wasHere: boolean): void {
			setTimeout(() => apply(id), wasHere ? 0 : RETRY_TIME).unref();
		},
		/** The gateways that have calls of this one in progress. */
		get awaited(): ReadonlySet<string> {
			const waiting = [...byNumber.values()].filter(({ isWaiting }) => isWaiting);
			return new Set(waiting.map(({ identity }) => identity.gateway as string));
		},
		/** A part of the answer to a call. */
		answered(call: string, message: Msg): void {
			const [incarnation, number, id] = call.split("_");
			if (incarnation === self.incarnation) {
				byNumber.get(Number(number))?.answered(Number(id), message);
			}
		},
		/** A notification of a device, from a gateway. */
		notified(gateway: string, bytes: Uint8Array): void {
			const event = readMessage(eventSchema, bytes);
			const connection = event && connections.get(event.device);
			if (event !== undefined && connection?.identity.gateway === gateway && connection.claim === event.claim) {
				connection.notified(event.method, event.params);
			}
		},
		/** Removes the claims that gateways which are gone have left for devices that nobody knows. */
		async removeUnknown(): Promise<void> {
			for (const { key, revision, id, claim } of readClaims()) {
				const isLeft = claim !== undefined && claim.gateway !== self.name && !isPresent(claim);
				if (isLeft && registry.get(id) === undefined) {
					await store.delete(key, revision).catch(() => {});
				}
			}
		},
		/** Ends the sessions with devices of others. */
		close(): void {
			isClosed = true;
			for (const connection of [...connections.values()]) {
				connection.close("shutting down");
			}
		},
	};
}
