import { Link } from "./network.js";
import type { SimulatedProcess, World } from "./world.js";

/** A message in a bucket or in the stream of events. */
export interface Stored {
	readonly key: string;
	/** Undefined: the entry was removed. */
	readonly text: string | undefined;
	readonly revision: number;
	/** Milliseconds since 1970. */
	readonly created: number;
}

/** A change of a stream. */
export interface Change {
	readonly key: string;
	readonly text?: string | undefined;
	/** The revision that is replaced; undefined: any. */
	readonly expected?: number | undefined;
	/** Another change with the same one is not stored again. */
	readonly id?: string | undefined;
}

/** A message for a subscription. */
export interface Message {
	readonly subject: string;
	readonly text: string;
	readonly reply?: string | undefined;
	/** Nobody receives the message that this one answers. */
	readonly isLost?: boolean;
}

type OnEntries = (entries: readonly Stored[]) => void;

/** A connection, at its end in NATS. */
export interface Client {
	/** Has something happen at the other end, a packet later. */
	readonly send: (run: () => void) => void;
	/** Listeners by the subjects that they want. */
	readonly subscriptions: Map<string, (message: Message) => void>;
	/** Streams that it follows, and the changes that are not sent yet. */
	readonly follows: Map<OnEntries, { readonly stream: string; readonly waiting: Map<string, Stored> }>;
	readonly cut: () => void;
}

/** A message to NATS: a function that runs there, a packet later. */
export type Task = (hub: Hub, client: Client) => void;

/** A connection, at the client's end. */
export interface Wire {
	readonly send: (task: Task) => void;
	readonly close: () => void;
}

/** Listeners of a connection; `ended`: it has ended, or could not be opened. */
export type Dial = (listener: { readonly opened: () => void; readonly ended: () => void }) => Wire;

/** Milliseconds for which changes are gathered before they are sent to those who follow: only the last one of a key is seen. */
const MAX_GATHERING = 4;

/** Milliseconds between attempts to connect while nothing passes. */
const HELD_TIME = 500;

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

/** NATS, as gateways use it: buckets, a stream of events, and messages. The links to it decide what is slow or lost. */
export class Hub {
	readonly #world: World;
	readonly #clients = new Set<Client>();
	readonly #streams = new Map<string, Stream>();
	/** Makes the time of each stream differ. */
	#made = 0;
	isUp = false;
	/** Nothing more can be stored; removals are. */
	isFull = false;

	constructor(world: World) {
		this.#world = world;
	}

	/** The most subscriptions and streams that one client follows. */
	get subscriptions(): number {
		return Math.max(0, ...[...this.#clients].map(({ follows, subscriptions }) => follows.size + subscriptions.size));
	}

	/** Ends every connection. What is in memory is gone, with `losesDisk` everything. */
	stop(losesDisk: boolean): void {
		this.isUp = false;
		for (const client of this.#clients) {
			client.cut();
		}
		this.#clients.clear();
		for (const name of [...this.#streams.keys()].filter((each) => losesDisk || each.startsWith("memory:"))) {
			this.#streams.delete(name);
		}
	}

	/** Opens a connection of a process. Each message that it sends counts for a crash that is planned. */
	readonly dial = (process: SimulatedProcess, { opened, ended }: Parameters<Dial>[0]): Wire => {
		const { path } = process;
		const world = this.#world;
		let link: Link<Task> | undefined;
		let isOver = false;
		const end = (): void => {
			if (!isOver) {
				isOver = true;
				ended();
			}
		};
		const attempt = (): void => {
			if (isOver) {
				return;
			}
			if (path.state === "held") {
				world.at(HELD_TIME, process, attempt);
			} else if (!this.isUp || path.state === "cut") {
				end();
			} else {
				link = this.#accept(process, end);
				opened();
			}
		};
		world.at(world.random.between(...path.delay), process, attempt);
		return {
			send: (task) => process.mayGoOn() && link?.send(0, task),
			close: () => {
				link?.close(0);
				world.at(0, process, end);
			},
		};
	};

	#accept(process: SimulatedProcess, ended: () => void): Link<Task> {
		const run = (task: Task): void => task(this, client);
		const link: Link<Task> = new Link(process.path, [
			{ process, received: run, ended },
			{ process: undefined, received: run, ended: () => void this.#clients.delete(client) },
		]);
		const client: Client = {
			send: (task) => this.#clients.has(client) && link.send(1, task),
			subscriptions: new Map(),
			follows: new Map(),
			cut: () => link.cut(),
		};
		this.#clients.add(client);
		return link;
	}

	/** The stream with a name, which is made if it is missing. */
	stream(name: string): Stream {
		const found = this.#streams.get(name);
		if (found !== undefined) {
			return found;
		}
		this.#made += 1;
		const stream = new Stream(new Date(this.#world.date + this.#made).toISOString());
		this.#streams.set(name, stream);
		return stream;
	}

	/** Sends what a stream has, and its changes. */
	follow({ follows, send }: Client, name: string, onEntries: OnEntries): void {
		const entries = [...this.stream(name).entries.values()];
		follows.set(onEntries, { stream: name, waiting: new Map() });
		send(() => onEntries(entries));
	}

	/** Returns the new revision, or why the change is refused. */
	write(name: string, { key, text, expected, id }: Change): number | "outdated" | "full" {
		const stream = this.stream(name);
		if (id !== undefined && stream.ids.has(id)) {
			return stream.last;
		}
		if (this.isFull && text !== undefined) {
			return "full";
		}
		if (expected !== undefined && expected !== (stream.entries.get(key)?.revision ?? 0)) {
			return "outdated";
		}
		stream.last += 1;
		const entry = { key: key || `${stream.last}`, text, revision: stream.last, created: this.#world.date };
		// The newest one comes last.
		stream.entries.delete(entry.key);
		stream.entries.set(entry.key, entry);
		if (id !== undefined) {
			stream.ids.add(id);
		}
		for (const client of this.#clients) {
			for (const [onEntries, follow] of client.follows) {
				if (follow.stream === name) {
					this.#gather(client, onEntries, follow.waiting, entry);
				}
			}
		}
		return stream.last;
	}

	/** Sends a change soon, unless a later one of the same key replaces it before. */
	#gather({ follows, send }: Client, onEntries: OnEntries, waiting: Map<string, Stored>, entry: Stored): void {
		const { random } = this.#world;
		if (waiting.size === 0) {
			this.#world.at(random.chance(0.3) ? random.between(0, MAX_GATHERING) : 0, undefined, () => {
				const entries = [...waiting.values()];
				waiting.clear();
				if (follows.has(onEntries)) {
					send(() => onEntries(entries));
				}
			});
		}
		waiting.delete(entry.key);
		waiting.set(entry.key, entry);
	}

	isWanted(subject: string): boolean {
		return [...this.#clients].some((client) => listenersOf(client, subject).length > 0);
	}

	/** Sends a message to everybody who wants it. Its sender learns if nobody does. */
	publish(from: Client, message: Message): void {
		const { reply } = message;
		const count = [...this.#clients].filter((client) => deliver(client, message)).length;
		if (count === 0 && reply !== undefined) {
			deliver(from, { subject: reply, text: "", isLost: true });
		}
	}
}

/** Returns whether the client wants the message. */
function deliver(client: Client, message: Message): boolean {
	const listeners = listenersOf(client, message.subject);
	for (const [, listener] of listeners) {
		client.send(() => listener(message));
	}
	return listeners.length > 0;
}

const listenersOf = ({ subscriptions }: Client, subject: string) =>
	[...subscriptions].filter(([wanted]) => matches(wanted, subject));

/** Whether a subject is one of those with "*" for a part, or ">" for the rest. */
function matches(wanted: string, subject: string): boolean {
	const [parts, actual] = [wanted.split("."), subject.split(".")];
	return (
		parts.every((part, i) => part === ">" || (i < actual.length && (part === "*" || part === actual[i]))) &&
		(parts.at(-1) === ">" || parts.length === actual.length)
	);
}
