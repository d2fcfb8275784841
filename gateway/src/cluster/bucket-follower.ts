import type { KV, KvWatchEntry } from "@nats-io/kv";
import { type Buckets, watch } from "./bus.js";
import type { Claims } from "./claims.js";
import type { Lists } from "./lists.js";
import type { Members } from "./members.js";
import { idOf, isLater, VERSION } from "./messages.js";
import type { Remotes } from "./remotes.js";
import type { SharedState } from "./shared-state.js";

/** The parts of a cluster that read the buckets. */
interface Readers {
	readonly members: Members;
	readonly remotes: Remotes;
	readonly claims: Claims;
	readonly lists: Lists;
	readonly shared: SharedState;
}

/** Watches the buckets, and passes each entry to the part that reads it. */
export class BucketFollower {
	readonly #readers: Readers;
	readonly #warn: (message: string) => void;
	/** Senders of messages that this program cannot read. */
	readonly #newer = new Set<string>();
	#hasNewerEntries = false;

	constructor(readers: Readers, warn: (message: string) => void) {
		this.#readers = readers;
		this.#warn = warn;
	}

	/** Whether the bucket has entries of devices that this program cannot read. */
	get hasNewerEntries(): boolean {
		return this.#hasNewerEntries;
	}

	/** Settles when every bucket is watched. Rejects if one cannot be, or the connection is lost meanwhile. */
	async start(buckets: Buckets, connection: AbortSignal): Promise<void> {
		const { approvals, webhooks } = this.#readers.shared;
		const follow = (bucket: KV, onEntry: (entry: KvWatchEntry) => void, withValues = true): Promise<void> =>
			watch(bucket, connection, onEntry, ({ message }) => this.#warn(`cluster: ${message}`), withValues);
		await follow(buckets.gateways, (entry) => {
			this.noteVersion(entry.value, `gateway ${entry.key}`);
			this.#readers.members.received(entry.key, valueIn(entry), entry.isUpdate);
		});
		await follow(buckets.devices, (entry) => this.#onDevice(entry));
		await follow(buckets.lists, (entry) => this.#onLists(entry), false);
		await follow(buckets.approvals, (entry) => approvals.received(entry.key, valueIn(entry)));
		await follow(buckets.webhooks, (entry) => webhooks.received(entry));
	}

	/** Warns once of each sender that is newer than this program. */
	noteVersion(bytes: Uint8Array, from: string): void {
		if (isLater(bytes) && !this.#newer.has(from)) {
			this.#newer.add(from);
			this.#warn(
				`cluster: ${from} sends messages of a later version than this one reads (${VERSION}). They are refused: ` +
					"its devices cannot be reached here. Upgrade this gateway",
			);
		}
	}

	#onDevice(found: KvWatchEntry): void {
		const { remotes, claims } = this.#readers;
		const entry = remotes.received(found);
		if (entry !== undefined) {
			claims.received(entry, found.revision);
		} else if (found.operation !== "PUT") {
			claims.removed(idOf(found.key), found.revision);
		} else if (isLater(found.value)) {
			this.#hasNewerEntries = true;
			claims.lostToNewerVersion(idOf(found.key));
		}
	}

	#onLists(found: KvWatchEntry): void {
		const { lists, claims, remotes } = this.#readers;
		lists.received(found);
		if (found.operation !== "PUT") {
			claims.recheckLists();
		} else if (found.isUpdate) {
			remotes.listsStored(found.key);
		}
	}
}

/** Undefined: the entry was removed. */
function valueIn({ operation, value }: KvWatchEntry): Uint8Array | undefined {
	return operation === "PUT" ? value : undefined;
}
