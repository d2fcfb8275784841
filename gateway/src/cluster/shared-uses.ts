import type { KV } from "@nats-io/kv";
import type { TokenUses } from "../config/token-uses.js";
import { readMessage, useEntrySchema, VERSION } from "./messages.js";

/** In the bucket of tokens, before a token's hash. */
const USED = "used.";

/** When tokens were last used at any gateway: an entry a token, written once a minute at most by each gateway. */
export class SharedUses {
	readonly #uses: TokenUses;
	#bucket: KV | undefined;

	constructor(uses: TokenUses) {
		this.#uses = uses;
		uses.share((sha256, time) => this.#publish(sha256, time));
	}

	/** @param bucket undefined while it cannot be reached */
	use(bucket: KV | undefined): void {
		this.#bucket = bucket;
	}

	/** Reads an entry of the bucket. Returns whether it is a use. */
	received(key: string, value: Uint8Array): boolean {
		if (!key.startsWith(USED)) {
			return false;
		}
		const entry = readMessage(useEntrySchema, value);
		if (entry !== undefined) {
			this.#uses.learn(key.slice(USED.length), entry.used);
		}
		return true;
	}

	async #publish(sha256: string, used: number): Promise<void> {
		if (this.#bucket === undefined) {
			throw new Error("the connection to NATS is lost");
		}
		await this.#bucket.put(USED + sha256, JSON.stringify({ v: VERSION, used }));
	}
}
