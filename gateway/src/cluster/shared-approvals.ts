import type { KV } from "@nats-io/kv";
import type * as z from "zod";
import {
	looksLikeCode,
	matches,
	readSignInCode,
	removeSignInCode,
	type SignInCode,
	type SignInCodes,
} from "../config/sign-in-code.js";
import { TokenError } from "../config/token-store.js";
import type { PendingShare, SharedPending } from "../devices/bootstrap/device-bindings.js";
import type { Code, CodeStore } from "../oauth/codes.js";
import { ifCurrent, reached } from "./bus.js";
import { codeEntrySchema, pendingEntrySchema, readMessage, signInCodeEntrySchema, VERSION } from "./messages.js";
import type { SharedClock } from "./shared-clock.js";

/** Attempts to write a code while another gateway does. */
const MAX_ATTEMPTS = 3;

/** In the bucket, before the digits that a device shows, and before the hash of a sign-in's code. */
const DEVICE = "device.";
const CODE = "code.";

/** In the bucket: the code of `token code` that was made last, at any gateway. */
const COMMAND_LINE = "command-line";

/**
 * Approvals of the last ten minutes: devices that wait, codes of the command line, and sign-ins whose client has not requested
 * tokens yet.
 */
export class SharedApprovals implements CodeStore, PendingShare, SignInCodes {
	readonly #folder: string;
	readonly #clock: SharedClock;
	readonly #warn: (error: Error) => void;
	readonly #pending = new Map<string, SharedPending>();
	#onPending: (code: string, pending: SharedPending | undefined) => void = () => {};
	#bucket: KV | undefined;
	/** A code that was made here, until it is sent to the bucket. */
	#made: SignInCode | undefined;

	/** @param folder the gateway's state folder */
	constructor(folder: string, clock: SharedClock, warn: (error: Error) => void) {
		this.#folder = folder;
		this.#clock = clock;
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

	async add(hash: string, code: Code): Promise<boolean> {
		return await this.#reached((bucket) =>
			isWritten(bucket.create(CODE + hash, JSON.stringify({ v: VERSION, ...code }))),
		);
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

	async takeSignInCode(entered: string): Promise<boolean> {
		if (!looksLikeCode(entered)) {
			return false;
		}
		return await this.#reached(async (bucket) => {
			await this.#shareSignInCode(bucket);
			const found = await bucket.get(COMMAND_LINE);
			const code = found?.operation === "PUT" ? readMessage(signInCodeEntrySchema, found.value) : undefined;
			if (!found || code === undefined || code.used || !matches(code, entered, this.#clock.now)) {
				return false;
			}
			return await isWritten(bucket.update(COMMAND_LINE, JSON.stringify({ ...code, used: true }), found.revision));
		});
	}

	/** Moves a code that was made here into the bucket. */
	async flush(): Promise<void> {
		if (this.#bucket !== undefined) {
			await this.#shareSignInCode(this.#bucket);
		}
	}

	async #shareSignInCode(bucket: KV): Promise<void> {
		const inFile = readSignInCode(this.#folder);
		if (inFile !== undefined) {
			// Before it is in the bucket: it must not be valid in two places, even if this process ends between.
			removeSignInCode(this.#folder);
			this.#made = { ...inFile, expires: inFile.expires + this.#clock.difference };
		}
		const made = this.#made;
		if (made === undefined) {
			return;
		}
		for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
			const found = await bucket.get(COMMAND_LINE);
			if (this.#made !== made) {
				return;
			}
			const known = found?.operation === "PUT" ? readMessage(signInCodeEntrySchema, found.value) : undefined;
			// Not written again unless it was refused: without a reply it may be used, and NATS may have forgotten that since.
			this.#made = undefined;
			if (made.expires <= Math.max(this.#clock.now, known?.expires ?? 0)) {
				return;
			}
			const text = JSON.stringify({ v: VERSION, sha256: made.sha256, expires: made.expires });
			const isDone = await isWritten(
				found === null ? bucket.create(COMMAND_LINE, text) : bucket.update(COMMAND_LINE, text, found.revision),
			);
			if (isDone) {
				return;
			}
			this.#made ??= made;
		}
	}

	async #reached<T>(run: (bucket: KV) => Promise<T>): Promise<T> {
		try {
			return await run(reached(this.#bucket));
		} catch (error) {
			throw new TokenError(`the cluster cannot be reached: ${(error as Error).message}`, { cause: error });
		}
	}
}

/** Whether an entry was written; false if it has changed since it was read. */
async function isWritten(update: Promise<number>): Promise<boolean> {
	return (await ifCurrent(update)) !== undefined;
}
