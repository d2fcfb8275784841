import type { KvWatchEntry } from "@nats-io/kv";
import type { Offers, ServerRegistry } from "xs-mcp-manager/core";
import { type Buckets, isOutdated, reached } from "./bus.js";
import { type Edit, Edits } from "./edits.js";
import { type Lists, NO_LISTS } from "./lists.js";
import type { Members } from "./members.js";
import { type Entry, entrySchema, eventSchema, idOf, keyOf, readMessage } from "./messages.js";
import type { OutgoingCalls } from "./outgoing-calls.js";
import { RemoteTransport } from "./remote-transport.js";
import type { SharedClock } from "./shared-clock.js";

interface RemotesOptions {
	readonly gateway: string;
	readonly registry: ServerRegistry;
	readonly members: Members;
	readonly lists: Lists;
	/** The gateway's state folder. */
	readonly folder: string;
	readonly clock: SharedClock;
	readonly calls: OutgoingCalls;
	/** Undefined while there is no connection. */
	readonly buckets: () => Buckets | undefined;
	readonly warn: (message: string) => void;
}

/** Milliseconds until lists that could not be read are requested again: NATS may be slow, without the connection being lost. */
const RETRY_TIME = 1_000;

/** The newest entry of a device. */
interface Known {
	readonly entry: Entry;
	readonly revision: number;
}

/** Devices of other gateways, as servers of the registry. */
export class Remotes {
	readonly #options: RemotesOptions;
	readonly #edits: Edits;
	/** By device. */
	readonly #known = new Map<string, Known>();
	/** The sessions, by device. */
	readonly #transports = new Map<string, RemoteTransport>();
	/** Devices whose lists are requested again in a moment. */
	readonly #retries = new Set<string>();
	/** Devices whose lists are missing in the bucket. */
	readonly #missing = new Set<string>();
	/** When an alias was given last, as far as it is known here, ms since 1970. */
	#newestAliasTime = 0;
	#isClosed = false;

	constructor(options: RemotesOptions) {
		this.#options = options;
		const { registry, folder, clock, warn } = options;
		// Later than any other, whatever the gateways' clocks say.
		const now = (): number => Math.max(clock.now, this.#newestAliasTime + 1);
		this.#edits = new Edits(registry, folder, now, warn);
	}

	/** When a device was given its alias, ms since 1970; undefined: it has the default alias. */
	aliasSetAt(id: string, alias: string): number | undefined {
		const known = this.#known.get(id)?.entry;
		return this.#edits.aliasSetAt(id, alias) ?? (known?.alias === alias ? known.aliasSetAt : undefined);
	}

	/** The keys of every device's lists. */
	get listsInUse(): ReadonlySet<string> {
		return new Set([...this.#known.values()].map(({ entry }) => entry.offers));
	}

	/** The bucket may have been replaced: its entries are read again. */
	reset(): void {
		for (const transport of [...this.#transports.values()]) {
			void transport.close("the connection to NATS was lost");
		}
		this.#known.clear();
		this.#missing.clear();
	}

	/** Reads an entry of the bucket. Undefined if it cannot be read, or was removed. */
	received({ key, operation, value, revision }: KvWatchEntry): Entry | undefined {
		const entry = operation === "PUT" ? readMessage(entrySchema, value) : undefined;
		if (entry !== undefined) {
			this.learn(entry, revision);
		} else if (operation !== "PUT" && revision > this.#revisionOf(idOf(key))) {
			this.#forget(idOf(key));
		}
		return entry;
	}

	/** Handles an entry of the bucket, which may arrive after a newer one. */
	learn(entry: Entry, revision: number): void {
		if (revision >= this.#revisionOf(entry.id)) {
			this.#known.set(entry.id, { entry, revision });
			this.#newestAliasTime = Math.max(this.#newestAliasTime, entry.aliasSetAt ?? 0);
			this.#adopt(entry);
			void this.#loadAndApply(entry);
		}
	}

	/** A gateway has come, gone, or started again. */
	gatewayChanged(gateway: string): void {
		for (const { entry } of this.#known.values()) {
			if (entry.gateway === gateway) {
				void this.#loadAndApply(entry);
			}
		}
	}

	/** Lists have been stored: devices may have waited for them. */
	listsStored(key: string): void {
		for (const device of this.#missing) {
			if (this.#known.get(device)?.entry.offers === key) {
				this.recheck(device);
			}
		}
	}

	/** A session of a device has ended: another gateway may have the device. */
	recheck(device: string): void {
		const known = this.#known.get(device);
		if (known !== undefined) {
			void this.#loadAndApply(known.entry);
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

	/** Writes what the operator has changed here. Rejects if it cannot be written. */
	async publishEdits(): Promise<void> {
		try {
			for (const [id, edit] of this.#edits.waiting) {
				const known = this.#known.get(id);
				const hasConnected = !this.#edits.isForgotten(id) || (known !== undefined && this.#isOnline(known.entry));
				if (edit === "forgotten" && hasConnected) {
					this.#edits.done(id);
				} else if (known !== undefined) {
					await this.#publish(known, edit);
				}
			}
		} finally {
			this.#edits.save();
		}
	}

	async #publish({ entry, revision }: Known, edit: Edit): Promise<void> {
		const { devices } = reached(this.#options.buckets());
		const key = keyOf(entry.id);
		try {
			if (edit === "forgotten") {
				// Not purge: NATS 2.9 then moves every watch to its end, past writes that it has not delivered yet.
				await devices.delete(key, { previousSeq: revision });
				this.#forget(entry.id);
			} else {
				const { tags = entry.tags } = edit;
				const { alias, aliasSetAt } = edit.alias === undefined ? entry : edit;
				// With its members in the order that every gateway writes: the text is compared.
				const edited = entrySchema.parse({ ...entry, alias, aliasSetAt, tags });
				this.learn(edited, await devices.update(key, JSON.stringify(edited), revision));
			}
		} catch (error) {
			// A newer entry is on its way here: the change is written to that one.
			if (!isOutdated(error)) {
				throw error;
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
			if (this.#known.get(entry.id)?.entry === entry) {
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
		const { registry } = this.#options;
		const session = registry.get(entry.id)?.session;
		// A device in a session with this gateway is not remote.
		if (this.#isClosed || (session !== undefined && session.identity.gateway === undefined)) {
			return;
		}
		const isOnline = this.#isOnline(entry);
		const transport = this.#transports.get(entry.id);
		if (transport !== undefined && (!isOnline || transport.sessionId !== entry.claim)) {
			void transport.close(isOnline ? "the device has connected again" : "the device or its gateway has gone");
		}
		if (offers === undefined || (!isOnline && this.#edits.isForgotten(entry.id))) {
			return;
		}
		const { id, alias, tags, board, lastSeen } = entry;
		if (registry.find(id) === undefined) {
			registry.addOffline({ id, alias, tags, board, offers, lastSeen });
			this.#adopt(entry);
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

	/** Applies an entry's alias and tags. If another device was given the same alias later, that device keeps it. */
	#adopt(entry: Entry): void {
		const { registry } = this.#options;
		const { alias, aliasSetAt } = this.#edits.aliasFor(entry);
		const { id = entry.id } = registry.find(alias) ?? {};
		const rival = this.#known.get(id);
		const isRival =
			id !== entry.id && (rival?.entry.alias === alias || this.#edits.aliasSetAt(id, alias) !== undefined);
		const later = (this.aliasSetAt(id, alias) ?? 0) - aliasSetAt;
		const isKept = isRival && (later > 0 || (later === 0 && this.#revisionOf(id) > this.#revisionOf(entry.id)));
		if (isRival) {
			this.#edits.dropAlias(isKept ? entry.id : id);
		}
		this.#edits.adopt(entry);
		if (rival !== undefined && isKept) {
			this.#edits.adopt(rival.entry);
		} else if (rival !== undefined && rival.entry.alias !== alias && registry.find(id)?.alias !== alias) {
			// It had this alias only because its entry was not applied here yet.
			this.#adopt(rival.entry);
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

	/** Whether a device is in a session with another gateway. */
	#isOnline({ online, gateway, incarnation }: Entry): boolean {
		return online && gateway !== this.#options.gateway && this.#options.members.has(gateway, incarnation);
	}

	#revisionOf(id: string): number {
		return this.#known.get(id)?.revision ?? 0;
	}

	/** A device was forgotten, here or at another gateway. */
	#forget(id: string): void {
		const { registry, warn } = this.#options;
		this.#known.delete(id);
		this.#missing.delete(id);
		void this.#transports.get(id)?.close("the device was forgotten");
		if (registry.find(id)?.session === undefined) {
			registry.forget(id).catch(({ message }: Error) => warn(`${id}: ${message}`));
		}
		this.#edits.done(id);
	}
}
