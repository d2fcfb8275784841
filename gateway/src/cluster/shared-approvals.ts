import type { KV } from "@nats-io/kv";
import type { z } from "zod";
import { TokenError } from "../config/token-store.js";
import type { PendingShare, SharedPending } from "../devices/device-bindings.js";
import type { Code, CodeStore } from "../oauth/codes.js";
import { isOutdated } from "./bus.js";
import { codeEntrySchema, pendingEntrySchema, readMessage, VERSION } from "./messages.js";

/** Attempts to mark a code while another gateway does. */
const MAX_ATTEMPTS = 3;

/** In the bucket, before the digits that a device shows, and before the hash of a sign-in's code. */
const DEVICE = "device.";
const CODE = "code.";

/** Approvals of the last ten minutes: devices that wait, and sign-ins whose client has not requested tokens yet. */
export class SharedApprovals implements CodeStore, PendingShare {
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

	async add(hash: string, code: Code): Promise<void> {
		await this.#reached(async (bucket) => {
			await bucket.create(CODE + hash, JSON.stringify({ v: VERSION, ...code }));
		});
	}

	async take(hash: string, grant: string): Promise<Code | undefined> {
		return await this.#reached(async (bucket) => {
			for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
				const found = await bucket.get(CODE + hash);
				const code = found?.operation === "PUT" ? readMessage(codeEntrySchema, found.value) : undefined;
				if (!found || code === undefined || code.used !== undefined) {
					return code;
				}
				const used: z.infer<typeof codeEntrySchema> = { ...code, used: grant };
				if (await isWritten(bucket.update(CODE + hash, JSON.stringify(used), found.revision))) {
					return code;
				}
			}
			throw new Error("another gateway uses the same code");
		});
	}

	async #reached<T>(run: (bucket: KV) => Promise<T>): Promise<T> {
		try {
			if (this.#bucket === undefined) {
				throw new Error("the connection to NATS is lost");
			}
			return await run(this.#bucket);
		} catch (error) {
			throw new TokenError(`the cluster cannot be reached: ${(error as Error).message}`, { cause: error });
		}
	}
}

/** Whether an entry was written; false if it has changed since it was read. */
async function isWritten(update: Promise<number>): Promise<boolean> {
	try {
		await update;
		return true;
	} catch (error) {
		if (isOutdated(error)) {
			return false;
		}
		throw error;
	}
}
