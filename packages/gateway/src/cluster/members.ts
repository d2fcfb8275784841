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
export type Members = ReturnType<typeof openMembers>;

/**
 * Opens the view of the other gateways.
 *
 * @param ownName of this gateway
 * @param store the short-lived one
 * @param onChange called when a gateway has come, gone or started again, with its lease before
 */
export function openMembers(
	ownName: string,
	store: Store,
	onChange: (gateway: string, before: Lease | undefined) => void,
) {
	const members = new Map<string, Member>();
	// Times are by `performance.now()`.
	let leaseRenewed = Number.NEGATIVE_INFINITY;
	let leasesChecked = performance.now();
	/** When calls are taken again after this process did not run for a while: those waiting may be old. */
	let trustedFrom = 0;

	const leaseOf = (name: string): Lease | undefined => members.get(name)?.lease;

	/** A gateway is absent until its lease is renewed. */
	const gone = (name: string): void => {
		const before = leaseOf(name);
		if (members.delete(name)) {
			onChange(name, before);
		}
	};

	const received = (key: string, entry: Entry | undefined, time: number): void => {
		const name = key.slice(LEASE.length);
		const lease = leaseSchema.safeParse(entry?.value).data;
		if (name === ownName) {
			return;
		}
		if (entry === undefined || lease === undefined) {
			gone(name);
			return;
		}
		const before = leaseOf(name);
		members.set(name, { lease, revision: entry.revision, until: performance.now() + time });
		if (before?.incarnation !== lease.incarnation) {
			onChange(name, before);
		}
	};

	/** Reads the leases that the store has: some may be old. */
	const readAll = (): void => {
		for (const entry of store.list(LEASE)) {
			received(entry.key, entry, FIRST_TIME);
		}
	};

	return {
		gone,
		leaseOf,
		readAll,
		/** The others, by name. */
		get present() {
			return [...members].map(([name, { lease }]) => ({ ...lease, name })).sort((a, b) => (a.name < b.name ? -1 : 1));
		},
		/** Whether a gateway is present, and has not started again since. */
		has(name: string, incarnation: string): boolean {
			return leaseOf(name)?.incarnation === incarnation;
		},
		/** Whether this gateway may answer calls of others. If it was stopped for a while, its devices may have gone to another. */
		get holdsLease(): boolean {
			const now = performance.now();
			return now - leaseRenewed < LEASE_TIME && now - leasesChecked < MAX_STALL && now >= trustedFrom;
		},
		/** Follows the leases of others. From now on, `expire` is called. Returns what ends it. */
		start(): () => void {
			leasesChecked = performance.now();
			readAll();
			return store.watch(LEASE, (key, entry) => received(key, entry, ABSENT_TIME));
		},
		/** Renews this gateway's lease if it is due. Rejects with StoreError. */
		async renew(lease: Lease, isForced = false): Promise<void> {
			const now = performance.now();
			if (isForced || now - leaseRenewed >= LEASE_RENEWAL) {
				await store.set(LEASE + ownName, lease);
				// When it was sent: it may have arrived at once.
				leaseRenewed = now;
			}
		},
		/** Removes this gateway's lease. Rejects with StoreError. */
		async leave(): Promise<void> {
			await store.delete(LEASE + ownName);
		},
		/**
		 * Finds the leases that were not renewed. To be called every `interval` ms: if this process did not run for longer, renewals
		 * may wait to be read.
		 */
		expire(interval: number): void {
			const now = performance.now();
			const stalled = Math.max(0, now - leasesChecked - 2 * interval);
			if (now - leasesChecked >= MAX_STALL) {
				trustedFrom = now + interval;
			}
			leasesChecked = now;
			for (const [name, member] of members) {
				member.until += stalled;
				if (member.until <= now) {
					gone(name);
					// Whoever joins later need not wait until it expires. If it is renewed meanwhile, it stays.
					store.delete(LEASE + name, member.revision).catch(() => {});
				}
			}
		},
		/** Nothing is known of others: the connection to NATS is lost. */
		clear(): void {
			for (const name of [...members.keys()]) {
				gone(name);
			}
		},
	};
}
