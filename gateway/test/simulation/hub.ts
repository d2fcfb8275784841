import type { Random } from "./random.js";

/** A message in a bucket or in the stream of events. */
export interface Stored {
	readonly key: string;
	/** Undefined: the entry was removed. */
	readonly text: string | undefined;
	readonly revision: number;
	/** Milliseconds since 1970. */
	readonly created: number;
}

/** A request of a client. Those with a `call` are answered. */
export type Request =
	| { readonly do: "open" | "follow"; readonly call: number; readonly stream: string }
	| { readonly do: "unfollow"; readonly call: number }
	| {
			readonly do: "write";
			readonly call: number;
			readonly stream: string;
			readonly key: string;
			readonly text?: string | undefined;
			/** The revision that is replaced; undefined: any. */
			readonly expected?: number | undefined;
			/** Another write with the same one is not stored again. */
			readonly id?: string | undefined;
	  }
	| { readonly do: "read"; readonly call: number; readonly stream: string; readonly key: string }
	| { readonly do: "ping"; readonly call: number }
	| { readonly do: "subscribe" | "unsubscribe"; readonly subject: string }
	| { readonly do: "publish"; readonly subject: string; readonly text: string; readonly reply?: string | undefined };

/** What the hub says to a client: the answer to a call, entries that it follows, or a message. */
export interface Reply {
	readonly call?: number;
	readonly refused?: "outdated" | "full";
	readonly created?: string;
	readonly last?: number;
	readonly entry?: Stored | undefined;
	readonly entries?: readonly Stored[];
	/** The subscription that a message is for. */
	readonly wanted?: string;
	readonly subject?: string;
	readonly text?: string;
	readonly reply?: string | undefined;
	/** Nobody receives the message. */
	readonly isLost?: boolean;
}

/** Milliseconds for which changes are gathered before they are sent to those who follow: only the last one of a key is seen. */
const MAX_GATHERING = 4;

interface Client {
	readonly send: (reply: Reply) => void;
	/** Streams that it follows, and the changes that are not sent yet, by call. */
	readonly follows: Map<number, { readonly stream: string; waiting: Map<string, Stored> }>;
	readonly subjects: Set<string>;
}

/** A bucket, or the stream of events, in which every message has a key of its own. */
class Stream {
	readonly created: string;
	readonly entries = new Map<string, Stored>();
	readonly ids = new Set<string>();
	last = 0;

	constructor(created: string) {
		this.created = created;
	}
}

/**
 * NATS, as gateways use it: buckets, a stream of events, and messages. It has no bytes, no sockets and no clock of its own;
 * what is slow or lost is decided by the links between it and the gateways.
 */
export class Hub {
	readonly #now: () => number;
	readonly #random: Random;
	readonly #later: (delay: number, run: () => void) => void;
	readonly #clients = new Set<Client>();
	readonly #streams = new Map<string, Stream>();
	/** Makes the time of each stream differ. */
	#made = 0;
	/** Nothing more can be stored; removals are. */
	isFull = false;

	/**
	 * @param now milliseconds since 1970
	 * @param later has something happen after so many ms
	 */
	constructor(now: () => number, random: Random, later: (delay: number, run: () => void) => void) {
		this.#now = now;
		this.#random = random;
		this.#later = later;
	}

	/** A client has connected. */
	connect(write: (text: string) => void): { readonly received: (text: string) => void; readonly ended: () => void } {
		const client: Client = {
			send: (reply) => this.#clients.has(client) && write(JSON.stringify(reply)),
			follows: new Map(),
			subjects: new Set(),
		};
		this.#clients.add(client);
		return {
			received: (text) => this.#received(client, JSON.parse(text) as Request),
			ended: () => void this.#clients.delete(client),
		};
	}

	/** The process has ended: what was in memory only is gone. */
	restart(): void {
		this.#clients.clear();
		for (const name of [...this.#streams.keys()].filter((each) => each.startsWith("memory:"))) {
			this.#streams.delete(name);
		}
	}

	/** The disk is lost as well. */
	loseEverything(): void {
		this.#streams.clear();
	}

	/** The newest entries of the streams whose name ends so. */
	list(name: string): Stored[] {
		const found = [...this.#streams].filter(([each]) => each.endsWith(name));
		return found.flatMap(([, { entries }]) => [...entries.values()].filter(({ text }) => text !== undefined));
	}

	/** The most subscriptions and streams that one client follows. */
	get subscriptions(): number {
		return Math.max(0, ...[...this.#clients].map(({ follows, subjects }) => follows.size + subjects.size));
	}

	#received(client: Client, request: Request): void {
		switch (request.do) {
			case "subscribe":
				client.subjects.add(request.subject);
				break;
			case "unsubscribe":
				client.subjects.delete(request.subject);
				break;
			case "publish":
				this.#publish(client, request);
				break;
			case "unfollow":
				client.follows.delete(request.call);
				break;
			default:
				client.send({ call: request.call, ...this.#answer(client, request) });
		}
	}

	#answer(client: Client, request: Request & { do: "open" | "follow" | "write" | "read" | "ping" }): Reply {
		if (request.do === "ping") {
			return {};
		}
		const stream = this.#stream(request.stream);
		const { created, last, entries } = stream;
		switch (request.do) {
			case "follow":
				client.follows.set(request.call, { stream: request.stream, waiting: new Map() });
				return { entries: [...entries.values()].sort((one, other) => one.revision - other.revision) };
			case "open":
				return { created, last, entries: [...entries.values()] };
			case "read":
				return { entry: entries.get(request.key) };
			default:
				return this.#write(stream, request);
		}
	}

	#stream(name: string): Stream {
		const found = this.#streams.get(name);
		if (found !== undefined) {
			return found;
		}
		this.#made += 1;
		const stream = new Stream(new Date(this.#now() + this.#made).toISOString());
		this.#streams.set(name, stream);
		return stream;
	}

	#write(stream: Stream, { stream: name, key, text, expected, id }: Request & { do: "write" }): Reply {
		if (id !== undefined && stream.ids.has(id)) {
			return { last: stream.last };
		}
		if (this.isFull && text !== undefined) {
			return { refused: "full" };
		}
		if (expected !== undefined && expected !== (stream.entries.get(key)?.revision ?? 0)) {
			return { refused: "outdated" };
		}
		stream.last += 1;
		const entry = { key: key || `${stream.last}`, text, revision: stream.last, created: this.#now() };
		stream.entries.delete(entry.key);
		stream.entries.set(entry.key, entry);
		if (id !== undefined) {
			stream.ids.add(id);
		}
		for (const client of this.#clients) {
			for (const [call, follow] of client.follows) {
				if (follow.stream === name) {
					this.#gather(client, call, follow.waiting, entry);
				}
			}
		}
		return { last: stream.last };
	}

	/** Sends a change soon, unless a later one of the same key replaces it before. */
	#gather(client: Client, call: number, waiting: Map<string, Stored>, entry: Stored): void {
		if (waiting.size === 0) {
			this.#later(this.#random.chance(0.3) ? this.#random.between(0, MAX_GATHERING) : 0, () => {
				const entries = [...waiting.values()];
				waiting.clear();
				if (client.follows.has(call)) {
					client.send({ call, entries });
				}
			});
		}
		waiting.delete(entry.key);
		waiting.set(entry.key, entry);
	}

	#publish(from: Client, { subject, text, reply }: Request & { do: "publish" }): void {
		let count = 0;
		for (const client of this.#clients) {
			for (const wanted of client.subjects) {
				if (matches(wanted, subject)) {
					client.send({ wanted, subject, text, reply });
					count += 1;
				}
			}
		}
		if (count === 0 && reply !== undefined) {
			for (const wanted of from.subjects) {
				if (matches(wanted, reply)) {
					from.send({ wanted, subject: reply, text: "", isLost: true });
				}
			}
		}
	}
}

/** Whether a subject is one of those with "*" for a part, or ">" for the rest. */
function matches(wanted: string, subject: string): boolean {
	const [parts, actual] = [wanted.split("."), subject.split(".")];
	return (
		parts.every((part, i) => part === ">" || (i < actual.length && (part === "*" || part === actual[i]))) &&
		(parts.at(-1) === ">" || parts.length === actual.length)
	);
}
