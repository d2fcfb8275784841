import type { Message } from "../engine/engine.js";
import type { Deliver, Service } from "./service.js";

/** A message between a device and its backend. */
export interface TracedMessage {
	readonly from: "device" | "backend";
	readonly over: "websocket" | "mqtt";
	/** Topic of an MQTT message. */
	readonly topic?: string;
	readonly bytes: Uint8Array;
	/** Whether the device received it: false while the backend is silenced. */
	readonly arrived: boolean;
}

/** The faults of a device's network. */
export interface NetworkConditions {
	/** Nothing gets through, and the Wi-Fi is gone. */
	readonly lost: boolean;
	/** Connections stay, but what the backend says does not arrive. */
	readonly silent: boolean;
	/** Milliseconds by which all that arrives is late. */
	readonly delay: number;
}

export const GOOD_NETWORK: NetworkConditions = { lost: false, silent: false, delay: 0 };

/** Messages of the backend, by kinds of messages to the firmware. Opening and closing is not silenced. */
const SAID = new Set(["ws.data", "ws.control", "mqtt.data", "http.headers", "http.data", "http.closed"]);

/** Longest delay of what arrives, ms. */
export const MAX_DELAY = 60_000;

/**
 * Stands between the firmware and its network clients: loses, silences and delays what arrives, and reports the messages
 * that go through. It outlives restarts of the device.
 */
export class NetworkFaults {
	readonly onMessage: (message: TracedMessage) => void;
	#conditions = GOOD_NETWORK;
	#clients: readonly FaultyClient[] = [];

	constructor(onMessage: (message: TracedMessage) => void) {
		this.onMessage = onMessage;
	}

	get conditions(): NetworkConditions {
		return this.#conditions;
	}

	set conditions(conditions: NetworkConditions) {
		const isNewlyLost = conditions.lost && !this.#conditions.lost;
		this.#conditions = conditions;
		if (isNewlyLost) {
			for (const client of this.#clients) {
				client.lose();
			}
		}
	}

	/** Makes the network clients of a device that starts. */
	open(clients: readonly ((deliver: Deliver) => Service)[], deliver: Deliver): readonly FaultyClient[] {
		this.#clients = clients.map((make) => new FaultyClient(make, deliver, this));
		return this.#clients;
	}
}

interface Late {
	readonly due: number;
	readonly message: Message;
}

/** A network client, and its part of the faults. */
export class FaultyClient implements Service {
	readonly prefix: string;
	readonly #client: Service;
	readonly #deliver: Deliver;
	readonly #faults: NetworkFaults;
	readonly #open = new Set<unknown>();
	/** HTTP requests whose response was silenced in part. */
	readonly #spoilt = new Set<unknown>();
	#late: Late[] = [];
	#timer: NodeJS.Timeout | undefined;

	constructor(make: (deliver: Deliver) => Service, deliver: Deliver, faults: NetworkFaults) {
		this.#deliver = deliver;
		this.#faults = faults;
		this.#client = make((message) => this.#arrive(message));
		this.prefix = this.#client.prefix;
	}

	take(kind: string, args: readonly unknown[], bytes?: Uint8Array): void {
		const [id] = args;
		if (kind === "open") {
			this.#open.add(id);
			if (this.#faults.conditions.lost) {
				this.#fail(id);
				return;
			}
		} else if (kind === "close") {
			this.#forget(id);
		}
		this.#client.take(kind, args, bytes);
	}

	/** Ends all connections, as a radio that is out of range does in the end. */
	lose(): void {
		this.#drop();
		this.#client.close();
		for (const id of this.#open) {
			this.#fail(id);
		}
	}

	/** Neither reads nor closes its connections any more, like a chip without power. {@link close} still closes them. */
	abandon(): void {
		this.#drop();
		for (const id of this.#open) {
			this.#client.take("pause", [id], undefined);
		}
	}

	close(): void {
		this.#drop();
		this.#client.close();
	}

	#fail(id: unknown): void {
		this.#forget(id);
		this.#deliver({ header: [`${this.prefix}.error`, id, "the network is lost"] });
	}

	#arrive(message: Message): void {
		const [kind, id, details] = message.header as [string, unknown, unknown];
		const { silent, delay } = this.#faults.conditions;
		if (kind.endsWith(".message")) {
			const traced = details as Pick<TracedMessage, "from" | "topic">;
			const over = this.prefix === "ws" ? "websocket" : "mqtt";
			const bytes = message.bytes ?? new Uint8Array(0);
			this.#faults.onMessage({ ...traced, over, bytes, arrived: traced.from === "device" || !silent });
			return;
		}
		const isSilenced = (silent && SAID.has(kind)) || this.#spoilt.has(id);
		if (isSilenced) {
			if (this.prefix === "http") {
				this.#spoilt.add(id);
			}
			return;
		}
		if (kind.endsWith(".closed") || kind.endsWith(".error")) {
			this.#forget(id);
		}
		if (delay === 0 && this.#late.length === 0) {
			this.#deliver(message);
			return;
		}
		const due = Math.max(performance.now() + delay, this.#late.at(-1)?.due ?? 0);
		this.#late.push({ due, message });
		this.#timer ??= setTimeout(() => this.#deliverLate(), delay);
	}

	/** In the order in which they arrived, also if the delay has changed. */
	#deliverLate(): void {
		this.#timer = undefined;
		const now = performance.now();
		while ((this.#late[0]?.due ?? Number.POSITIVE_INFINITY) <= now) {
			this.#deliver((this.#late.shift() as Late).message);
		}
		const [next] = this.#late;
		if (next !== undefined) {
			this.#timer = setTimeout(() => this.#deliverLate(), Math.max(1, next.due - now));
		}
	}

	#forget(id: unknown): void {
		this.#open.delete(id);
		this.#spoilt.delete(id);
	}

	#drop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#late = [];
	}
}
