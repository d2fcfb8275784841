import type { KvWatchEntry } from "@nats-io/kv";
import type { Offers, Server, ServerRegistry } from "xs-mcp-manager/core";
import { type Buckets, isOutdated } from "./bus.js";
import { type Lists, NO_LISTS } from "./lists.js";
import type { Members } from "./members.js";
import { type Entry, entrySchema, eventSchema, idOf, keyOf, readMessage } from "./messages.js";
import type { OutgoingCalls } from "./outgoing-calls.js";
import { RemoteTransport } from "./remote-transport.js";

interface RemotesOptions {
	readonly gateway: string;
	readonly registry: ServerRegistry;
	readonly members: Members;
	readonly lists: Lists;
	readonly calls: OutgoingCalls;
	/** Undefined while there is no connection. */
	readonly buckets: () => Buckets | undefined;
	readonly warn: (message: string) => void;
}

/** A device's name as the operator has chosen it. */
interface Label {
	readonly alias: string;
	readonly tags?: readonly string[] | undefined;
}

/** Milliseconds until lists that could not be read are requested again: NATS may be slow, without the connection being lost. */
const RETRY_TIME = 1_000;

/** Attempts to write a label while others write. */
const MAX_ATTEMPTS = 5;

/** Devices of other gateways, as servers of the registry. */
export class Remotes {
	readonly #options: RemotesOptions;
	readonly #entries = new Map<string, Entry>();
	/** The sessions, by device. */
	readonly #transports = new Map<string, RemoteTransport>();
	/** The labels of devices when they were last compared, by device. */
	readonly #labels = new Map<string, Label>();
	/** Devices whose lists are requested again in a moment. */
	readonly #retries = new Set<string>();
	/** Devices whose lists are missing in the bucket. */
	readonly #missing = new Set<string>();
	/** Whether the registry has changed since its labels were compared with those of the bucket. */
	#hasChanged = false;
	#isClosed = false;

	constructor(options: RemotesOptions) {
		this.#options = options;
	}

	/** The keys of every device's lists. */
	get listsInUse(): ReadonlySet<string> {
		return new Set([...this.#entries.values()].map(({ offers }) => offers));
	}

	/** Devices in a session with another gateway. */
	get size(): number {
		return this.#transports.size;
	}

	/** Reads an entry of the bucket. Undefined if it cannot be read, or was removed. */
	received({ key, operation, value }: KvWatchEntry): Entry | undefined {
		const entry = operation === "PUT" ? readMessage(entrySchema, value) : undefined;
		if (entry !== undefined) {
			this.#entries.set(entry.id, entry);
			void this.#loadAndApply(entry);
		} else if (operation !== "PUT") {
			this.#forget(idOf(key));
		}
		return entry;
	}

	/** A gateway has come, gone, or started again. */
	gatewayChanged(gateway: string): void {
		for (const entry of this.#entries.values()) {
			if (entry.gateway === gateway) {
				void this.#loadAndApply(entry);
			}
		}
	}

	/** Lists have been stored: devices may have waited for them. */
	listsStored(key: string): void {
		for (const device of this.#missing) {
			if (this.#entries.get(device)?.offers === key) {
				this.recheck(device);
			}
		}
	}

	/** A session of a device has ended: another gateway may have the device. */
	recheck(device: string): void {
		const entry = this.#entries.get(device);
		if (entry !== undefined) {
			void this.#loadAndApply(entry);
		}
	}

	/** A notification of a device, from a gateway. */
	notified(gateway: string, bytes: Uint8Array): void {
		const event = readMessage(eventSchema, bytes);
		const transport = event && this.#transports.get(event.device);
		if (event !== undefined && transport?.identity.gateway === gateway && transport.sessionId === event.claim) {
			transport.notified(event.method, event.params);
		}
	}

	/** The alias or the tags of a device that is here were changed by another gateway. */
	edited(entry: Entry): void {
		const server = this.#options.registry.find(entry.id);
		if (server !== undefined) {
			this.#adoptLabel(server, entry);
		}
	}

	/** Something in the registry has changed. */
	changed(): void {
		this.#hasChanged = true;
	}

	/** Writes the aliases, tags and forgotten devices that were changed here. Rejects if they cannot be written. */
	async publishEdits(isHere: (device: string) => boolean): Promise<void> {
		if (!this.#hasChanged) {
			return;
		}
		this.#hasChanged = false;
		try {
			await this.#publishAll(isHere);
		} catch (error) {
			this.#hasChanged = true;
			throw error;
		}
	}

	async #publishAll(isHere: (device: string) => boolean): Promise<void> {
		const { registry } = this.#options;
		for (const [id, label] of this.#labels) {
			const server = registry.find(id);
			if (server === undefined) {
				await this.#remove(id);
			} else if (!isSame(label, server.record) && !isHere(id)) {
				const { record } = server;
				await this.#edit(server);
				this.#labels.set(id, record);
			}
		}
	}

	/** Ends the sessions with devices of others. */
	close(): void {
		this.#isClosed = true;
		for (const transport of [...this.#transports.values()]) {
			void transport.close("shutting down");
		}
	}

	async #loadAndApply(entry: Entry): Promise<void> {
		const buckets = this.#options.buckets();
		try {
			const offers =
				this.#options.lists.get(entry.offers) ??
				(buckets && (await this.#options.lists.load(buckets.lists, entry.offers)));
			if (this.#entries.get(entry.id) === entry) {
				this.#noteMissing(entry, offers === undefined && buckets !== undefined);
				this.#apply(entry, offers);
			}
		} catch (error) {
			this.#options.warn(`${entry.id}: its lists cannot be read: ${(error as Error).message}`);
			this.#recheckLater(entry.id);
		}
	}

	#noteMissing({ id, gateway, offers }: Entry, isMissing: boolean): void {
		if (!isMissing) {
			this.#missing.delete(id);
		} else if (!this.#missing.has(id)) {
			this.#missing.add(id);
			const lists = offers === NO_LISTS ? `gateway ${gateway} could not store its lists` : "its lists have expired";
			this.#options.warn(`${id}: not shown here until it has connected or changed: ${lists}`);
		}
	}

	#recheckLater(device: string): void {
		if (this.#isClosed || this.#retries.has(device)) {
			return;
		}
		this.#retries.add(device);
		setTimeout(() => {
			this.#retries.delete(device);
			this.recheck(device);
		}, RETRY_TIME).unref();
	}

	/** Brings the registry in line with an entry. */
	#apply(entry: Entry, offers: Offers | undefined): void {
		const { registry, members, gateway } = this.#options;
		if (this.#isClosed || this.#isInSessionHere(entry.id)) {
			return;
		}
		const isOnline = entry.online && entry.gateway !== gateway && members.has(entry.gateway, entry.incarnation);
		const transport = this.#transports.get(entry.id);
		if (transport !== undefined && (!isOnline || transport.sessionId !== entry.claim)) {
			void transport.close(isOnline ? "the device has connected again" : "the device or its gateway has gone");
		}
		// The operator has forgotten it here, which is not written yet.
		const isForgotten = !isOnline && this.#labels.has(entry.id) && registry.find(entry.id) === undefined;
		if (offers === undefined || isForgotten) {
			return;
		}
		const { id, alias, tags, board, lastSeen } = entry;
		registry.addOffline({ id, alias, tags, board, offers, lastSeen });
		const server = registry.find(id);
		if (server !== undefined) {
			this.#adoptLabel(server, entry);
		}
		if (!isOnline) {
			return;
		}
		const open = this.#transports.get(id);
		if (open === undefined) {
			this.#connect(entry, offers);
		} else {
			open.update(entry, offers);
		}
	}

	#connect(entry: Entry, offers: Offers): void {
		const { registry, calls } = this.#options;
		const transport = new RemoteTransport(entry, offers, {
			calls,
			onClosed: () => {
				if (this.#transports.get(entry.id) === transport) {
					this.#transports.delete(entry.id);
				}
			},
		});
		this.#transports.set(entry.id, transport);
		registry.connect(transport);
	}

	/** Whether a device is in a session with this gateway. */
	#isInSessionHere(id: string): boolean {
		const session = this.#options.registry.sessionOf(id);
		return session !== undefined && session.identity.gateway === undefined;
	}

	#adoptLabel(server: Server, { id, alias, tags }: Entry): void {
		const { registry, warn } = this.#options;
		const known = this.#labels.get(id);
		// Changes of this gateway alone are still to be written.
		const keepsAlias = known !== undefined && known.alias !== server.alias && known.alias === alias;
		const keepsTags = known !== undefined && known.tags !== server.record.tags && haveSame(known.tags ?? [], tags);
		// Each by itself: an alias that another device has here does not keep the tags away.
		for (const change of [keepsAlias ? {} : { alias }, keepsTags ? {} : { tags }]) {
			try {
				registry.relabel(id, change);
			} catch (error) {
				warn(`${id}: its alias or tags of another gateway cannot be used here: ${(error as Error).message}`);
			}
		}
		this.#hasChanged ||= keepsAlias || keepsTags;
		const { record } = server;
		const label = { alias: keepsAlias ? alias : record.alias, tags: keepsTags ? known.tags : record.tags };
		this.#labels.set(id, label);
	}

	/** The operator has changed an alias or tags here. Rejects if that cannot be written. */
	async #edit({ id, alias, tags }: Server): Promise<void> {
		const devices = this.#reachDevices();
		for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
			const found = await devices.get(keyOf(id));
			const entry = found?.operation === "PUT" ? readMessage(entrySchema, found.value) : undefined;
			if (!found || entry === undefined) {
				return;
			}
			try {
				const edited: Entry = { ...entry, alias, tags: [...tags], byOwner: undefined };
				await devices.update(keyOf(id), JSON.stringify(edited), found.revision);
				return;
			} catch (error) {
				if (!isOutdated(error)) {
					throw error;
				}
			}
		}
	}

	/** The operator has forgotten a device here. Rejects if that cannot be written. */
	async #remove(id: string): Promise<void> {
		// Not purge: NATS 2.9 then moves every watch to its end, past writes that it has not delivered yet.
		await this.#reachDevices().delete(keyOf(id));
		this.#labels.delete(id);
		this.#entries.delete(id);
		this.#missing.delete(id);
	}

	#reachDevices(): Buckets["devices"] {
		const { devices } = this.#options.buckets() ?? {};
		if (devices === undefined) {
			throw new Error("the connection to NATS is lost");
		}
		return devices;
	}

	/** Another gateway has forgotten a device. */
	#forget(id: string): void {
		const { registry, warn } = this.#options;
		this.#labels.delete(id);
		this.#entries.delete(id);
		this.#missing.delete(id);
		void this.#transports.get(id)?.close("the device was forgotten");
		if (registry.find(id)?.session === undefined) {
			registry.forget(id).catch(({ message }: Error) => warn(`${id}: ${message}`));
		}
	}
}

function haveSame(some: readonly string[], others: readonly string[]): boolean {
	return some.length === others.length && some.every((each, i) => each === others[i]);
}

/** Compared by identity: tags are replaced, never changed, and there are thousands of devices. */
function isSame(label: Label, { alias, tags }: Label): boolean {
	return label.alias === alias && label.tags === tags;
}
