import type { KV } from "@nats-io/kv";
import type { PendingShare, SharedPending } from "../devices/bootstrap/device-bindings.js";
import { pendingEntrySchema, readMessage, VERSION } from "./messages.js";

/** In the bucket, before the digits that a device shows. */
const DEVICE = "device.";

/** Devices that wait for approval. */
export class SharedApprovals implements PendingShare {
	readonly #warn: (error: Error) => void;
	readonly #pending = new Map<string, SharedPending>();
	#onPending: (code: string, pending: SharedPending | undefined) => void = () => {};
	#bucket: KV | undefined;

	constructor(warn: (error: Error) => void) {
		this.#warn = warn;
	}

	/** @param bucket undefined while it cannot be reached */
	use(bucket: KV | undefined): void {
		this.#bucket = bucket;
	}

	/** Reads an entry of the bucket. */
	received(key: string, value: Uint8Array | undefined): void {
		if (!key.startsWith(DEVICE)) {
			return;
		}
		const code = key.slice(DEVICE.length);
		const pending = value && readMessage(pendingEntrySchema, value);
		if (pending?.code === code) {
			this.#pending.set(code, pending);
			this.#onPending(code, pending);
		} else if (value === undefined) {
			this.#pending.delete(code);
			this.#onPending(code, undefined);
		}
	}

	follow(onPending: (code: string, pending: SharedPending | undefined) => void): void {
		this.#onPending = onPending;
		for (const [code, pending] of this.#pending) {
			onPending(code, pending);
		}
	}

	publish(code: string, pending: SharedPending | undefined): void {
		const key = DEVICE + code;
		const written = pending
			? this.#bucket?.put(key, JSON.stringify({ v: VERSION, ...pending }))
			: this.#bucket?.delete(key);
		written?.catch(this.#warn);
	}
}
