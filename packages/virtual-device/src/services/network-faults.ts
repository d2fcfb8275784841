import type { Message } from "../engine/engine.js";
import type { Deliver, Service } from "./service.js";

/** A message between a device and its backend. */
export interface TracedMessage {
	readonly from: "device" | "backend";
	readonly over: "websocket" | "mqtt";
	readonly topic?: string;
	readonly bytes: Uint8Array;
	/** Whether the device received it: false while the backend is silenced. */
	readonly arrived: boolean;
}

/** The faults of a device's network. */
export interface NetworkConditions {
	/** Nothing gets through, and the Wi-Fi is gone. */
	readonly lost: boolean;
	/** Connections stay open, but the backend's messages do not arrive. */
	readonly silent: boolean;
	/** Delay of everything that arrives, in milliseconds. */
	readonly delay: number;
}

export const GOOD_NETWORK: NetworkConditions = { lost: false, silent: false, delay: 0 };

/** Messages of the backend, by kinds of messages to the firmware. Opening and closing is not silenced. */
const SAID = new Set(["ws.data", "ws.control", "mqtt.data", "http.headers", "http.data", "http.closed"]);

/** Longest delay of what arrives, ms. */
export const MAX_DELAY = 60_000;

/** A network client, and its part of the faults. */
export type FaultyClient = ReturnType<typeof openFaulty>;

/**
 * Stands between the firmware and its network clients: loses, silences and delays their data. Outlives restarts.
 *
 * @param onMessage called with the messages that go through
 */
export function makeNetworkFaults(onMessage: (message: TracedMessage) => void) {
	let conditions = GOOD_NETWORK;
	let clients: readonly FaultyClient[] = [];
	return {
		get conditions(): NetworkConditions {
			return conditions;
		},
		set conditions(next: NetworkConditions) {
			const isNewlyLost = next.lost && !conditions.lost;
			conditions = next;
			if (isNewlyLost) {
				for (const client of clients) {
					client.lose();
				}
			}
		},
		/** Makes the network clients of a device that starts. */
		open(made: readonly ((deliver: Deliver) => Service)[], deliver: Deliver): readonly FaultyClient[] {
			clients = made.map((make) => openFaulty(make, deliver, () => conditions, onMessage));
			return clients;
		},
	};
}

function openFaulty(
	make: (deliver: Deliver) => Service,
	deliver: Deliver,
	conditions: () => NetworkConditions,
	onMessage: (message: TracedMessage) => void,
) {
	const open = new Set<unknown>();
	/** HTTP requests whose response was silenced in part. */
	const spoilt = new Set<unknown>();
	let late: { readonly due: number; readonly message: Message }[] = [];
	let timer: NodeJS.Timeout | undefined;

	const forget = (id: unknown): void => {
		open.delete(id);
		spoilt.delete(id);
	};
	const drop = (): void => {
		clearTimeout(timer);
		timer = undefined;
		late = [];
	};
	const fail = (id: unknown): void => {
		forget(id);
		deliver({ header: [`${prefix}.error`, id, "the network is lost"] });
	};

	/** Delivers late messages in the order in which they arrived, even if the delay has changed. */
	const deliverLate = (): void => {
		timer = undefined;
		const now = performance.now();
		for (let [next] = late; next !== undefined && next.due <= now; [next] = late) {
			late.shift();
			deliver(next.message);
		}
		const [next] = late;
		if (next !== undefined) {
			timer = setTimeout(deliverLate, Math.max(1, next.due - now));
		}
	};

	const client = make((message) => {
		const [kind, id, details] = message.header as [string, unknown, unknown];
		const { silent, delay } = conditions();
		if (kind.endsWith(".message")) {
			const traced = details as Pick<TracedMessage, "from" | "topic">;
			const over = prefix === "ws" ? "websocket" : "mqtt";
			const bytes = message.bytes ?? new Uint8Array(0);
			onMessage({ ...traced, over, bytes, arrived: traced.from === "device" || !silent });
			return;
		}
		if ((silent && SAID.has(kind)) || spoilt.has(id)) {
			if (prefix === "http") {
				spoilt.add(id);
			}
			return;
		}
		if (kind.endsWith(".closed") || kind.endsWith(".error")) {
			forget(id);
		}
		if (delay === 0 && late.length === 0) {
			deliver(message);
			return;
		}
		late.push({ due: Math.max(performance.now() + delay, late.at(-1)?.due ?? 0), message });
		timer ??= setTimeout(deliverLate, delay);
	});
	const { prefix } = client;

	return {
		prefix,
		take(kind: string, args: readonly unknown[], bytes?: Uint8Array): void {
			const [id] = args;
			if (kind === "open") {
				open.add(id);
				if (conditions().lost) {
					fail(id);
					return;
				}
			} else if (kind === "close") {
				forget(id);
			}
			client.take(kind, args, bytes);
		},
		/** Ends all connections, as a radio that is out of range does in the end. */
		lose(): void {
			drop();
			client.close();
			for (const id of open) {
				fail(id);
			}
		},
		/** Stops reading and closing its connections, like a chip without power. `close` still closes them. */
		abandon(): void {
			drop();
			for (const id of open) {
				client.take("pause", [id]);
			}
		},
		close(): void {
			drop();
			client.close();
		},
	};
}
