import type { Entry, Store } from "xs-mcp-manager/core";
import { ABSENT_TIME, LEASE_RENEWAL, LEASE_TIME, type Lease, leaseSchema } from "./messages.js";

/** In the short-lived store, before a gateway's name. */
const LEASE = "gateway/";

/** A gateway that holds its lease. */
interface Member {
	lease: Lease;
	revision: number;
	/** When it is counted as absent, by `performance.now()`. */
	until: number;
}

/** Milliseconds that a lease read at the start counts: it may be old. */
const FIRST_TIME = LEASE_RENEWAL * 2.5;

/** Milliseconds without running after which calls that wait may have been given up by those who made them. */
const MAX_STALL = 2_000;

/** Which other gateways are present. */
export class Members {
	readonly #name: string;
	readonly #store: Store;
	readonly #onChange: (gateway: string, before: Lease | undefined) => void;
	readonly #members = new Map<string, Member>();
	/** When this gateway's lease was renewed, by `performance.now()`. */
	#renewed = Number.NEGATIVE_INFINITY;

	/** When leases were checked, by `performance.now()`. */
	#checked = performance.now();

	/** When calls are taken again after this process did not run for a while, by `performance.now()`: those waiting may be old. */
	#trustedFrom = 0;

	/**
	 * @param store the short-lived one
	 * @param onChange is called when a gateway has come, gone or started again, with its lease before
	 */
	constructor(name: string, store: Store, onChange: (gateway: string, before: Lease | undefined) => void) {
		this.#name = name;
		this.#store = store;
		this.#onChange = onChange;
	}

	/** The others, by name. */
	get present(): readonly (Lease & { readonly name: string })[] {
		return [...this.#members]
			.map(([name, { lease }]) => ({ ...lease, name }))
			.sort((a, b) => (a.name < b.name ? -1 : 1));
	}

	/** The lease of a gateway that is present. */
	leaseOf(name: string): Lease | undefined {
		return this.#members.get(name)?.lease;
	}

	/** Whether a gateway is present, and has not started again since. */
	has(name: string, incarnation: string): boolean {
		return this.leaseOf(name)?.incarnation === incarnation;
	}

	/**
	 * Whether this gateway may answer calls of others. A process that was stopped for a while may not: its devices may have
	 * gone to another gateway.
	 */
	get holdsLease(): boolean {
		const now = performance.now();
		return now - this.#renewed < LEASE_TIME && now - this.#checked < MAX_STALL && now >= this.#trustedFrom;
	}

	/**
	 * Follows the leases of others. From now on, {@link expire} is called.
	 *
	 * @returns ends it
	 */
	start(): () => void {
		this.#checked = performance.now();
		this.readAll();
		return this.#store.watch(LEASE, (key, entry) => this.#received(key, entry, ABSENT_TIME));
	}

	/** Reads the leases that the store has: some may be old. */
	readAll(): void {
		for (const entry of this.#store.list(LEASE)) {
			this.#received(entry.key, entry, FIRST_TIME);
		}
	}

	/** Renews this gateway's lease if it is due. Rejects with StoreError. */
	async renew(lease: Lease, isForced = false): Promise<void> {
		const now = performance.now();
		if (isForced || now - this.#renewed >= LEASE_RENEWAL) {
			await this.#store.set(LEASE + this.#name, lease);
			// When it was sent: it may have arrived at once.
			this.#renewed = now;
		}
	}

	/** Removes this gateway's lease. Rejects with StoreError. */
	async leave(): Promise<void> {
		await this.#store.delete(LEASE + this.#name);
	}

	#received(key: string, entry: Entry | undefined, time: number): void {
		const name = key.slice(LEASE.length);
		const lease = leaseSchema.safeParse(entry?.value).data;
		if (name === this.#name) {
			return;
		}
		if (entry === undefined || lease === undefined) {
			this.gone(name);
			return;
		}
		const before = this.leaseOf(name);
		this.#members.set(name, { lease, revision: entry.revision, until: performance.now() + time });
		if (before?.incarnation !== lease.incarnation) {
			this.#onChange(name, before);
		}
	}

	/** A gateway is absent until its lease is renewed. */
	gone(name: string): void {
		const before = this.leaseOf(name);
		if (this.#members.delete(name)) {
			this.#onChange(name, before);
		}
	}

	/**
	 * Finds the leases that were not renewed. To be called every `interval` ms: if this process did not run for longer, renewals
	 * may wait to be read.
	 */
	expire(interval: number): void {
		const now = performance.now();
		const stalled = Math.max(0, now - this.#checked - 2 * interval);
		if (now - this.#checked >= MAX_STALL) {
			this.#trustedFrom = now + interval;
		}
		this.#checked = now;
		for (const [name, member] of this.#members) {
			member.until += stalled;
			if (member.until <= now) {
				this.gone(name);
				// Whoever joins later need not wait until it expires. If it is renewed meanwhile, it stays.
				this.#store.delete(LEASE + name, member.revision).catch(() => {});
			}
		}
	}

	/** Nothing is known of others: the connection to NATS is lost. */
	clear(): void {
		for (const name of [...this.#members.keys()]) {
			this.gone(name);
		}
	}
}
