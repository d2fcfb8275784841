import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import { type Connection, type Entry, isMade, type Server, type Store } from "xs-mcp-manager/core";
import { type Claim, claimSchema, type Self, VERSION } from "./messages.js";

/** In the short-lived store, before a device's id. */
export const CLAIM = "claim/";

/** Claims that are written at the same time: thousands of devices may connect at once. */
const PARALLEL_WRITES = 64;

/** How often a claim is written again at once because another gateway was faster. */
const MAX_ATTEMPTS = 5;

/** A device's session with this gateway. */
interface Own {
	readonly server: Server;
	readonly connection: Connection;
	/** Names the session: the fencing token of calls. */
	readonly id: string;
	readonly since: number;
	/** Whether there was no connection to the store since it was made, so that another gateway may have a newer one. */
	isLate: boolean;
	/** Whether the store has had it in this connection. Another claim is a newer one then. */
	isStored: boolean;
	/** The session is over. */
	isOver: boolean;
	/** The state in the store. */
	state: string | undefined;
	isWriting: boolean;
}

/**
 * The devices that are in a session with this gateway, as entries `claim/DEVICE`. The last gateway that writes one by
 * compare-and-set has the device. After an outage the session that began last has it.
 */
export class Claims {
	readonly #self: Self;
	readonly #store: Store;
	readonly #warn: (message: string) => void;
	/** Claims by device. One that is over stays until that is written. */
	readonly #claims = new Map<string, Own>();
	readonly #limit = pLimit(PARALLEL_WRITES);
	/** The error that was reported last, until a claim is written. */
	#warned = "";

	/** @param store the short-lived one */
	constructor(self: Self, store: Store, warn: (message: string) => void) {
		this.#self = self;
		this.#store = store;
		this.#warn = warn;
	}

	/** Follows what other gateways claim. Returns what ends it. */
	start(): () => void {
		return this.#store.watch(CLAIM, (key, entry) => {
			const claim = this.#claims.get(key.slice(CLAIM.length));
			if (claim?.isStored) {
				void this.#write(claim);
			} else if (entry !== undefined) {
				this.#removeLeft(entry);
			}
		});
	}

	/** Devices in a session. */
	get size(): number {
		return [...this.#claims.values()].filter(({ isOver }) => !isOver).length;
	}

	/** A device is online here: its claim names this gateway from now on. */
	begin(server: Server, connection: Connection): void {
		const claim: Own = {
			server,
			connection,
			id: randomUUID(),
			since: this.#store.now,
			isLate: !this.#store.isConnected,
			isStored: false,
			isOver: false,
			state: undefined,
			isWriting: false,
		};
		this.#claims.set(server.id, claim);
		void this.#write(claim);
	}

	/** A session is over. */
	end(connection: Connection): void {
		const claim = this.#claims.get(connection.identity.id);
		if (claim?.connection === connection) {
			claim.isOver = true;
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

	/** The store is connected again: devices may have gone to other gateways. */
	recheck(): void {
		for (const claim of this.#claims.values()) {
			claim.isLate = true;
			claim.isStored = false;
		}
		for (const entry of this.#store.list(CLAIM)) {
			this.#removeLeft(entry);
		}
	}

	/** Settles when every change is written, or cannot be for now. */
	async flush(): Promise<void> {
		// Another gateway that holds this one for gone may have removed one while nothing could be written.
		const isDue = ({ isStored, isOver, state, server }: Own): boolean =>
			!isStored || isOver || state !== server.state || this.#store.get(CLAIM + server.id) === undefined;
		await Promise.all([...this.#claims.values()].filter(isDue).map((claim) => this.#write(claim)));
	}

	async #write(claim: Own): Promise<void> {
		if (claim.isWriting || this.#isDone(claim)) {
			return;
		}
		claim.isWriting = true;
		try {
			await this.#limit(async () => {
				for (let attempt = 0; !this.#isDone(claim) && attempt < MAX_ATTEMPTS; attempt += 1) {
					await this.#writeOnce(claim);
				}
			});
			this.#warned = "";
		} catch (error) {
			// Written again with the next flush.
			const { message } = error as Error;
			// Thousands of devices may meet the same error.
			if (message !== this.#warned && this.#store.isConnected) {
				this.#warned = message;
				this.#warn(`${claim.server.id}: other gateways are not told of it now: ${message}`);
			}
		} finally {
			claim.isWriting = false;
		}
	}

	/** Whether nothing is to be written: the store has the claim as it is, or it is another session's by now. */
	#isDone(claim: Own): boolean {
		if (this.#claims.get(claim.server.id) !== claim) {
			return true;
		}
		const found = this.#find(claim);
		return claim.isStored && !claim.isOver && found?.claim === claim.id && claim.state === claim.server.state;
	}

	async #writeOnce(claim: Own): Promise<void> {
		const key = CLAIM + claim.server.id;
		const entry = this.#store.get(key);
		const found = this.#find(claim);
		// The newest session here is this one: another claim of this process is older.
		const isOurs = found !== undefined && this.#isOurs(found);
		const isNewer =
			claim.isLate && found !== undefined && found.gateway !== this.#self.name && found.since > claim.since;
		if (entry !== undefined && !isOurs && (claim.isStored || claim.isOver || isNewer || isLaterVersion(entry))) {
			this.#lose(claim, found?.gateway ?? "of a later version");
			return;
		}
		if (entry === undefined && claim.isOver) {
			this.#claims.delete(claim.server.id);
			return;
		}
		// After a conflict, the copy has the other gateway's claim.
		if (claim.isOver) {
			if (await isMade(this.#store.delete(key, entry?.revision))) {
				this.#lose(claim, "");
			}
			return;
		}
		const value = this.#valueOf(claim);
		if (await isMade(this.#store.set(key, value, entry?.revision ?? 0))) {
			claim.state = value.state;
			claim.isStored = true;
			claim.isLate = false;
		}
	}

	/** Removes a claim of an earlier session here: NATS may store it after the session has ended. */
	#removeLeft({ key, value, revision }: Entry): void {
		const found = claimSchema.safeParse(value).data;
		if (found !== undefined && this.#isOurs(found) && !this.#claims.has(key.slice(CLAIM.length))) {
			// It may be written again meanwhile, or NATS is away: then it is found again.
			this.#store.delete(key, revision).catch(() => {});
		}
	}

	#isOurs({ gateway, incarnation }: Claim): boolean {
		return gateway === this.#self.name && incarnation === this.#self.incarnation;
	}

	#find({ server }: Own): Claim | undefined {
		return claimSchema.safeParse(this.#store.get(CLAIM + server.id)?.value).data;
	}

	/** @param gateway that has the device now */
	#lose(claim: Own, gateway: string): void {
		if (this.#claims.get(claim.server.id) === claim) {
			this.#claims.delete(claim.server.id);
			if (!claim.isOver) {
				claim.connection.close(`the device has connected to gateway ${gateway}`);
			}
		}
	}

	#valueOf({ server, connection, id, since }: Own): Claim {
		const { name: gateway, incarnation } = this.#self;
		const { clientId, transport } = connection.identity;
		const { capabilities, revision = "2024-11-05" } = connection;
		const { state } = server;
		return {
			v: VERSION,
			gateway,
			incarnation,
			claim: id,
			since,
			capabilities: { ...capabilities },
			revision,
			transport,
			clientId,
			...(state !== undefined && { state }),
		};
	}
}

/** Whether an entry was written by a version of the program that this one does not read. */
export function isLaterVersion({ value }: Entry): boolean {
	return Number((value as { readonly v?: unknown } | null)?.v) > VERSION;
}
