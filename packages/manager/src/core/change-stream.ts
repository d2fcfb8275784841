import {
	type Client,
	type McpSubscription,
	ProtocolError,
	type SubscriptionFilter,
} from "@modelcontextprotocol/client";
import { backoff } from "./errors.js";
import { coalesced } from "./received.js";

/** Milliseconds that a server has to confirm the subscription. */
const ACK_TIME = 10_000;

/** Milliseconds that a stream stays open after its successor: what the server sent on it may not have arrived yet. */
const OVERLAP_TIME = 5_000;

/** The delays before a stream that has ended is opened again. */
const BACKOFF = { initialDelay: 1_000, maxDelay: 60_000 };

/** The notifications of a server of 2026-07-28, for the client's handlers: a `subscriptions/listen` stream, reopened at its end. */
export class ChangeStream {
	readonly #client: Client;
	readonly #onGap: () => void;
	readonly #resources = new Set<string>();
	readonly #reopen = coalesced(() => this.#open());
	#subscription: McpSubscription | undefined;
	/** The stream before. A notification that arrives on both does no harm. */
	#previous: McpSubscription | undefined;
	#overlapTimer: NodeJS.Timeout | undefined;
	#retries = 0;
	/** Whether the stream has ended, or was never open, and is opened again after a delay. */
	#isDown = false;
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	/** @param onGap called when the stream is open again: changes may have been missed */
	constructor(client: Client, onGap: () => void) {
		this.#client = client;
		this.#onGap = onGap;
	}

	/** Opens the stream if the server reports changes. Settles when the server has confirmed it, or has failed. */
	async start(): Promise<void> {
		await this.#reopen().catch((error: Error) => {
			// A server that rejects the stream once will reject it again.
			if (!ProtocolError.isInstance(error)) {
				this.#retry();
			}
		});
	}

	/** Subscribes to updates of a resource, or unsubscribes. Rejects with ProtocolError, and with SdkError without an answer. */
	async follow(uri: string, wanted: boolean): Promise<void> {
		if (wanted) {
			this.#resources.add(uri);
		} else {
			this.#resources.delete(uri);
		}
		try {
			await this.#reopen();
		} catch (error) {
			this.#resources.delete(uri);
			throw error;
		}
	}

	close(): void {
		this.#closed = true;
		clearTimeout(this.#timer);
		this.#closePrevious();
		void this.#subscription?.close();
	}

	#filter(): SubscriptionFilter {
		const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
		return {
			...(tools?.listChanged && { toolsListChanged: true }),
			...(prompts?.listChanged && { promptsListChanged: true }),
			...(resources?.listChanged && { resourcesListChanged: true }),
			...(this.#resources.size > 0 && { resourceSubscriptions: [...this.#resources] }),
		};
	}

	#closePrevious(): void {
		clearTimeout(this.#overlapTimer);
		void this.#previous?.close();
		this.#previous = undefined;
	}

	/** The stream with the new filter is open before the one with the old filter ends. */
	async #open(): Promise<void> {
		const filter = this.#filter();
		const isWanted = !this.#closed && Object.keys(filter).length > 0;
		const subscription = isWanted ? await this.#client.listen(filter, { timeout: ACK_TIME }) : undefined;
		// Not earlier: if it cannot be opened now, the retry that is pending comes.
		clearTimeout(this.#timer);
		this.#closePrevious();
		this.#previous = this.#subscription;
		this.#subscription = subscription;
		if (isWanted) {
			this.#overlapTimer = setTimeout(() => this.#closePrevious(), OVERLAP_TIME).unref();
		} else {
			this.#closePrevious();
		}
		void subscription?.closed.then(() => {
			if (this.#subscription === subscription) {
				this.#retry();
			}
		});
		const wasDown = this.#isDown;
		this.#isDown = false;
		this.#retries = wasDown ? 0 : this.#retries;
		if (wasDown && isWanted) {
			this.#onGap();
		}
	}

	#retry(): void {
		if (this.#closed) {
			return;
		}
		this.#isDown = true;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.start(), backoff(BACKOFF, this.#retries)).unref();
		this.#retries += 1;
	}
}
