import { randomUUID } from "node:crypto";
import type { KV } from "@nats-io/kv";
import pLimit from "p-limit";
import type { Server, ServerRecord, Session } from "xs-mcp-manager/core";
import { type Buckets, isOutdated } from "./bus.js";
import { type Lists, NO_LISTS } from "./lists.js";
import { type Entry, entrySchema, isLater, keyOf, readMessage, VERSION } from "./messages.js";
import type { SharedClock } from "./shared-clock.js";

/** Entries that are written at the same time: thousands of devices may connect at once. */
const MAX_WRITES = 64;

/** A device's session with this gateway. */
interface Claim {
	readonly server: Server;
	readonly session: Session;
	readonly id: string;
	readonly since: number;
	/** Whether there was no connection to the cluster since it was made, so that another gateway may have a newer one. */
	isLate: boolean;
	/** Of the entry in the bucket: the fencing number. Undefined before the first time. */
	revision: number | undefined;
	/** The entry in the bucket, as far as it is known here. */
	known: Entry | undefined;
	/** Source of the entry. */
	record: ServerRecord;
	state: string | undefined;
	isDirty: boolean;
	isWriting: boolean;
	/** The session is over. */
	isOver: boolean;
	/** Why its lists are not stored: the kind. */
	problem: string | undefined;
}

interface ClaimsOptions {
	readonly gateway: string;
	readonly incarnation: string;
	/** Undefined while there is no connection. */
	readonly buckets: () => Buckets | undefined;
	readonly maxBytes: () => number;
	readonly lists: Lists;
	readonly clock: SharedClock;
	/** The bucket has this entry of a device that is here. */
	readonly onEntry: (entry: Entry, revision: number) => void;
	/** When a device was given its alias, ms since 1970; undefined: it has the default alias. */
	readonly aliasSetAt: (id: string, alias: string) => number | undefined;
	/** A device has connected to another gateway. */
	readonly onLost: (session: Session, gateway: string) => void;
	readonly warn: (message: string) => void;
}

/** The devices that are in a session with this gateway, as entries in the bucket of devices. */
export class Claims {
	readonly #options: ClaimsOptions;
	/** By device. One that is over stays until that is written. */
	readonly #claims = new Map<string, Claim>();
	readonly #writing = pLimit(MAX_WRITES);
	/** The error that was reported last, until an entry is written. */
	#warned = "";

	constructor(options: ClaimsOptions) {
		this.#options = options;
	}

	/** Devices in a session. */
	get size(): number {
		return [...this.#claims.values()].filter(({ isOver }) => !isOver).length;
	}

	/** A device is online here: its entry names this gateway from now on. */
	begin(server: Server, session: Session): void {
		const claim: Claim = {
			server,
			session,
			id: randomUUID(),
			since: this.#options.clock.now,
			isLate: this.#options.buckets() === undefined,
			revision: undefined,
			known: undefined,
			record: server.record,
			state: server.state,
			isDirty: true,
			isWriting: false,
			isOver: false,
			problem: undefined,
		};
		this.#claims.set(server.id, claim);
		void this.#write(claim);
	}

	/** A session is over. */
	end(session: Session): void {
		const claim = this.#claims.get(session.identity.id);
		if (claim?.session === session) {
			claim.isOver = true;
			claim.isDirty = true;
			void this.#write(claim);
		}
	}

	/** The server of a device whose session has this name, if the session lasts. */
	serverOf(device: string, id: string): Server | undefined {
		const claim = this.#claims.get(device);
		return claim?.id === id && !claim.isOver && claim.server.online ? claim.server : undefined;
	}

	/** The name of a device's session; undefined if the device is not here. */
	claimOf(device: string): string | undefined {
		const claim = this.#claims.get(device);
		return claim?.isOver === false ? claim.id : undefined;
	}

	/** Compares an entry of the bucket with the session here: the later one has the device. */
	received(entry: Entry, revision: number): void {
		const claim = this.#claims.get(entry.id);
		if (claim === undefined || claim.revision === undefined || revision <= claim.revision) {
			return;
		}
		if (entry.claim === claim.id) {
			// Written again only if it is different here: a later entry takes an alias from an earlier one.
			Object.assign(claim, { revision, known: entry });
		} else {
			this.#lose(claim, entry.gateway);
		}
	}

	/** Another gateway has forgotten a device without knowing that it is online here. Writes its entry again. */
	removed(device: string, revision: number): void {
		const claim = this.#claims.get(device);
		if (claim?.revision !== undefined && revision > claim.revision && !claim.isOver) {
			markUnknown(claim);
			void this.#write(claim);
		}
	}

	/** The entry of a device is of a later version than this program reads: a newer gateway has it. */
	lostToNewerVersion(device: string): void {
		const claim = this.#claims.get(device);
		if (claim !== undefined) {
			this.#lose(claim, "of a later version");
		}
	}

	/** Settles when every change has been written, or cannot be for now. */
	async flush(): Promise<void> {
		for (const claim of this.#claims.values()) {
			if (claim.record !== claim.server.record || claim.state !== claim.server.state) {
				claim.isDirty = true;
			}
		}
		await Promise.all([...this.#claims.values()].filter(({ isDirty }) => isDirty).map((claim) => this.#write(claim)));
	}

	/** The bucket may be another one, and devices may have gone to other gateways: every entry is compared with it. */
	recheck(): void {
		for (const claim of this.#claims.values()) {
			claim.isLate = true;
			markUnknown(claim);
		}
	}

	/** Has lists stored again that are missing in the bucket, will expire, or could not be stored. */
	recheckLists(): void {
		for (const claim of this.#claims.values()) {
			const { known, problem } = claim;
			claim.isDirty ||= problem !== undefined || (known !== undefined && !this.#options.lists.isStored(known.offers));
		}
	}

	#lose(claim: Claim, gateway: string): void {
		if (this.#claims.get(claim.server.id) === claim) {
			this.#claims.delete(claim.server.id);
			if (!claim.isOver) {
				this.#options.onLost(claim.session, gateway);
			}
		}
	}

	async #write(claim: Claim): Promise<void> {
		if (claim.isWriting) {
			return;
		}
		claim.isWriting = true;
		try {
			await this.#writing(async () => {
				while (claim.isDirty && this.#claims.get(claim.server.id) === claim) {
					const buckets = this.#options.buckets();
					if (buckets === undefined) {
						return;
					}
					claim.isDirty = false;
					await this.#writeOnce(claim, buckets);
				}
			});
			this.#warned = "";
		} catch (error) {
			// Written again with the next flush.
			claim.isDirty = true;
			const { message } = error as Error;
			// Thousands of devices may meet the same error.
			if (message !== this.#warned && this.#options.buckets() !== undefined) {
				this.#warned = message;
				this.#options.warn(`${claim.server.id}: other gateways are not told of it now: ${message}`);
			}
		} finally {
			claim.isWriting = false;
		}
	}

	async #writeOnce(claim: Claim, { devices, lists }: Buckets): Promise<void> {
		const offers = await this.#storeLists(claim, lists);
		const revision = claim.revision ?? (await this.#takeOver(claim, devices));
		if (revision === undefined) {
			return;
		}
		const entry = this.#entryOf(claim, offers);
		const text = JSON.stringify(entry);
		if (claim.known !== undefined && text === JSON.stringify(claim.known)) {
			return;
		}
		try {
			claim.revision = await devices.put(keyOf(entry.id), text, { previousSeq: revision });
			claim.known = entry;
			this.#options.onEntry(entry, claim.revision);
			// The session may have ended while the entry was written.
			if (!entry.online && this.#claims.get(entry.id) === claim) {
				this.#claims.delete(entry.id);
			}
		} catch (error) {
			if (!isOutdated(error)) {
				throw error;
			}
			claim.isDirty = true;
			if (claim.revision !== undefined) {
				await this.#reconcile(claim, devices);
			}
		}
	}

	/** Returns the key of the newest that are stored. */
	async #storeLists(claim: Claim, bucket: KV): Promise<string> {
		const { id, offers } = claim.server;
		const { key, problem } = await this.#options.lists.store(bucket, id, offers, this.#options.maxBytes());
		if (problem !== undefined && problem.kind !== claim.problem) {
			const effect = key === NO_LISTS ? "do not show the device" : "go on with earlier ones";
			this.#options.warn(`${id}: its lists are not shared, other gateways ${effect}: ${problem.text}`);
		}
		claim.problem = problem?.kind;
		return key;
	}

	/** The entry has changed since it was written here. */
	async #reconcile(claim: Claim, devices: KV): Promise<void> {
		const { entry, revision, isNewer } = await this.#read(claim, devices);
		if (isNewer) {
			this.lostToNewerVersion(claim.server.id);
		} else if (entry === undefined || entry.claim === claim.id) {
			Object.assign(claim, { revision: entry && revision, known: entry });
		} else {
			this.#lose(claim, entry.gateway);
		}
	}

	/**
	 * Takes the device over from any other gateway, since its newest session is here. Returns the revision of the entry to be
	 * replaced; undefined if the device has connected to another gateway, or was forgotten, since.
	 */
	async #takeOver(claim: Claim, devices: KV): Promise<number | undefined> {
		const { entry, revision, removed = 0 } = await this.#read(claim, devices);
		const isElsewhere = entry?.online === true && entry.gateway !== this.#options.gateway;
		const isForgotten = claim.isOver && removed > claim.since;
		if (isForgotten || (claim.isLate && isElsewhere && entry.since > claim.since)) {
			this.#lose(claim, entry?.gateway ?? "");
			return undefined;
		}
		return revision;
	}

	/** The entry of a device that is here; undefined if it cannot be read or was removed. `removed`: when, ms since 1970. */
	async #read({ server }: Claim, devices: KV) {
		const found = await devices.get(keyOf(server.id));
		const value = found?.operation === "PUT" ? found.value : undefined;
		const entry = value && readMessage(entrySchema, value);
		const revision = found?.revision ?? 0;
		if (entry !== undefined) {
			this.#options.onEntry(entry, revision);
		}
		const removed = value === undefined ? found?.created.getTime() : undefined;
		return { entry, revision, removed, isNewer: value !== undefined && isLater(value) };
	}

	#entryOf(claim: Claim, offers: string): Entry {
		const { server, session, id, since, isOver } = claim;
		claim.record = server.record;
		claim.state = server.state;
		const { alias, tags = [], board, lastSeen } = claim.record;
		const { gateway, incarnation } = this.#options;
		const aliasSetAt = this.#options.aliasSetAt(server.id, alias);
		const { clientId, transport } = session.identity;
		const { capabilities, revision = "2024-11-05" } = session;
		return {
			v: VERSION,
			id: server.id,
			gateway,
			incarnation,
			claim: id,
			online: !isOver,
			since,
			alias,
			...(aliasSetAt !== undefined && { aliasSetAt }),
			tags: [...tags],
			board,
			capabilities: { ...capabilities },
			revision,
			transport,
			clientId,
			lastSeen,
			...(claim.state !== undefined && !isOver && { state: claim.state }),
			offers,
		};
	}
}

/** The bucket's entry of a device may have changed: it is read, and written again. */
function markUnknown(claim: Claim): void {
	claim.revision = undefined;
	claim.known = undefined;
	claim.isDirty = true;
}
