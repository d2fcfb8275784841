import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { KV, KvEntry } from "@nats-io/kv";
import type { WebhookListener, WebhookRecord, WebhookStore } from "../events/webhook-store.js";
import { ifCurrent, reached } from "./bus.js";
import type { Members } from "./members.js";
import { readMessage, VERSION, type WebhookEntry, webhookEntrySchema } from "./messages.js";

/** Milliseconds for which a gateway must be absent before another one takes over: news of it may be on the way. */
const PATIENCE = 1_500;

/** Attempts to write an entry while other gateways do. */
const MAX_ATTEMPTS = 10;

interface SharedWebhooksOptions {
	readonly self: Pick<WebhookEntry, "gateway" | "incarnation">;
	readonly members: Members;
	/** 256 bits as base64url, the same for each gateway with the same `device-key`: NATS gets no secret that can be read. */
	readonly key: string;
	readonly warn: (message: string) => void;
}

interface Known {
	readonly entry: WebhookEntry;
	readonly record: WebhookRecord;
	/** Of the bucket's entry; 0 until this connection has shown it. */
	revision: number;
	/** When its gateway was found to be absent, by `performance.now()`. */
	absentFrom?: number | undefined;
}

/** The webhooks of a cluster. One gateway delivers each: that which accepted it, and once that is gone, another one. */
export class SharedWebhooks implements WebhookStore {
	readonly #options: SharedWebhooksOptions;
	readonly #self: SharedWebhooksOptions["self"];
	/** By the subscription's id. */
	readonly #known = new Map<string, Known>();
	/** Cursors that are not stored yet, by id. */
	readonly #moved = new Map<string, string>();
	#bucket: KV | undefined;
	#listener: WebhookListener | undefined;

	constructor(options: SharedWebhooksOptions) {
		this.#options = options;
		this.#self = options.self;
	}

	open(listener: WebhookListener): void {
		this.#listener = listener;
		for (const { record, entry } of this.#known.values()) {
			listener.onRecord(record, this.#isOurs(entry));
		}
	}

	/** @param bucket undefined while it cannot be reached: then other gateways deliver */
	use(bucket: KV | undefined): void {
		this.#bucket = bucket;
		for (const known of this.#known.values()) {
			if (bucket === undefined) {
				this.#listener?.onRecord(known.record, false);
			}
			// Others may have written meanwhile, or NATS has lost its disk: who delivers is what the bucket says now.
			known.revision = 0;
		}
	}

	/** Reads an entry of the bucket. */
	received({ key, operation, value, revision }: KvEntry): void {
		if ((this.#known.get(key)?.revision ?? 0) >= revision) {
			return;
		}
		if (operation !== "PUT") {
			this.#forget(key);
			return;
		}
		const entry = readMessage(webhookEntrySchema, value);
		const record = entry && this.#unseal(entry);
		if (entry !== undefined && record?.id === key) {
			this.#learn({ entry, record, revision });
		}
	}

	async put(record: WebhookRecord): Promise<void> {
		const { id } = record;
		await this.#write(id, (known) => ({ ...record, cursor: known?.record.cursor ?? record.cursor }));
	}

	moved(id: string, cursor: string): void {
		this.#moved.set(id, cursor);
	}

	async remove(id: string): Promise<void> {
		this.#forget(id);
		await reached(this.#bucket).delete(id);
	}

	async close(): Promise<void> {
		await this.flush().catch(() => {});
	}

	/** Stores the progress of deliveries, and takes over those of gateways that are gone. Call it periodically. */
	async flush(): Promise<void> {
		for (const [id, cursor] of [...this.#moved]) {
			await this.#write(id, (known) => known && this.#isOurs(known.entry) && { ...known.record, cursor });
			if (this.#moved.get(id) === cursor) {
				this.#moved.delete(id);
			}
		}
		for (const [id, known] of [...this.#known]) {
			const { incarnation } = known.entry;
			if (this.#isAbandoned(known)) {
				const isStillIts = (found: Known | undefined) => found?.entry.incarnation === incarnation && found.record;
				await this.#write(id, isStillIts, true);
			}
		}
	}

	/** Whether the gateway that delivers it has been absent for a while. */
	#isAbandoned(known: Known): boolean {
		const { gateway, incarnation } = known.entry;
		if (this.#isOurs(known.entry) || this.#options.members.has(gateway, incarnation)) {
			known.absentFrom = undefined;
			return false;
		}
		known.absentFrom ??= performance.now();
		return performance.now() - known.absentFrom >= PATIENCE;
	}

	/**
	 * Writes an entry, unless the change gives none. Rejects if NATS does not answer.
	 *
	 * @param takesOver whether this gateway delivers it from now on, as it does what is new
	 */
	async #write(
		id: string,
		change: (known: Known | undefined) => WebhookRecord | false | undefined,
		takesOver = false,
	): Promise<void> {
		for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
			const known = this.#known.get(id);
			const record = change(known);
			if (!record) {
				return;
			}
			const owner = known === undefined || takesOver ? this.#self : known.entry;
			const { gateway, incarnation } = owner;
			const entry = { v: VERSION, gateway, incarnation, sealed: this.#seal(record) };
			const bucket = reached(this.#bucket);
			const text = JSON.stringify(entry);
			const last = known && { previousSeq: known.revision };
			const revision = await ifCurrent(last ? bucket.put(id, text, last) : bucket.create(id, text));
			if (revision !== undefined) {
				this.#learn({ entry, record, revision });
				return;
			}
			const found = await bucket.get(id);
			if (found === null) {
				this.#forget(id);
			} else {
				this.received(found);
			}
		}
	}

	#learn(known: Known): void {
		const { record, entry, revision } = known;
		if ((this.#known.get(record.id)?.revision ?? 0) < revision) {
			this.#known.set(record.id, known);
			// Progress that is not stored yet counts: an event would be posted again.
			const cursor = this.#moved.get(record.id) ?? record.cursor;
			this.#listener?.onRecord({ ...record, cursor }, this.#bucket !== undefined && this.#isOurs(entry));
		}
	}

	#forget(id: string): void {
		this.#moved.delete(id);
		if (this.#known.delete(id)) {
			this.#listener?.onRemoved(id);
		}
	}

	#isOurs({ gateway, incarnation }: WebhookEntry): boolean {
		return gateway === this.#self.gateway && incarnation === this.#self.incarnation;
	}

	#seal(record: WebhookRecord): string {
		const iv = randomBytes(12);
		const cipher = createCipheriv("aes-256-gcm", Buffer.from(this.#options.key, "base64url"), iv);
		const text = Buffer.concat([cipher.update(JSON.stringify(record), "utf8"), cipher.final()]);
		return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url");
	}

	/** Undefined if a gateway with another key has written it. */
	#unseal({ sealed, gateway }: WebhookEntry): WebhookRecord | undefined {
		try {
			const bytes = Buffer.from(sealed, "base64url");
			const decipher = createDecipheriv(
				"aes-256-gcm",
				Buffer.from(this.#options.key, "base64url"),
				bytes.subarray(0, 12),
			);
			decipher.setAuthTag(bytes.subarray(12, 28));
			const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
			return JSON.parse(text.toString()) as WebhookRecord;
		} catch {
			this.#options.warn(
				`cluster: a webhook of gateway ${gateway} cannot be read here: is its device-key another one?`,
			);
			return undefined;
		}
	}
}
