// NATS, and the part of its client libraries that gateways use. The links between the two decide what is slow or lost.
import { Link } from "./network.js";
import type { SimulatedProcess, World } from "./world.js";

/** Milliseconds for an answer of JetStream. */
const ANSWER_TIME = 5_000;

/** Milliseconds for which changes are gathered before they are sent to those who follow: only the last one of a key is seen. */
const MAX_GATHERING = 4;

/** Milliseconds between attempts to connect while nothing passes. */
const HELD_TIME = 500;

/** A message in a bucket or in the stream of events. */
interface Stored {
	readonly key: string;
	/** Undefined: the entry was removed. */
	readonly text: string | undefined;
	readonly revision: number;
	/** Milliseconds since 1970. */
	readonly created: number;
}

/** A change of a stream. */
interface Change {
	readonly key: string;
	readonly text?: string | undefined;
	/** The revision that is replaced; undefined: any. */
	readonly expected?: number | undefined;
	/** Another change with the same one is not stored again. */
	readonly id?: string | undefined;
}

/** A message for a subscription. */
interface Message {
	readonly subject: string;
	readonly text: string;
	readonly reply?: string | undefined;
	/** Nobody receives the message that this one answers. */
	readonly isLost?: boolean;
}

type OnMessage = (message: Message) => void;
type OnEntries = (entries: readonly Stored[]) => void;

/** A bucket, or the stream of events, in which every message has a key of its own. */
interface Stream {
	readonly created: string;
	readonly entries: Map<string, Stored>;
	readonly ids: Set<string>;
	last: number;
}

/** A connection that is open, with what NATS knows of it. What is sent over its link is a function that runs at the other end. */
class Client {
	readonly link: Link<() => void>;
	/** Listeners by the subjects that they want. */
	readonly subscriptions = new Map<string, OnMessage>();
	/** Streams that it follows, and the changes that are not sent yet. */
	readonly follows = new Map<OnEntries, { readonly stream: string; readonly waiting: Map<string, Stored> }>();
	readonly #hub: Hub;

	constructor(hub: Hub, process: SimulatedProcess, ended: () => void) {
		const received = (run: () => void): void => run();
		this.#hub = hub;
		this.link = new Link(process.path, [
			{ process, received, ended },
			{ process: undefined, received, ended: () => void hub.clients.delete(this) },
		]);
		hub.clients.add(this);
	}

	/** Has something happen at the gateway, a packet later. */
	send(run: () => void): void {
		if (this.#hub.clients.has(this)) {
			this.link.send(1, run);
		}
	}

	/** Returns whether the client wants the message. */
	deliver(message: Message): boolean {
		const listeners = [...this.subscriptions].filter(([wanted]) => matches(wanted, message.subject));
		for (const [, listener] of listeners) {
			this.send(() => listener(message));
		}
		return listeners.length > 0;
	}
}

/** NATS, as gateways use it: buckets, a stream of events, and messages. */
export class Hub {
	readonly world: World;
	readonly clients = new Set<Client>();
	readonly #streams = new Map<string, Stream>();
	/** Makes the time of each stream differ. */
	#made = 0;
	isUp = false;
	/** Nothing more can be stored; removals are. */
	isFull = false;

	constructor(world: World) {
		this.world = world;
	}

	/** The most subscriptions and streams that one client follows. */
	get subscriptions(): number {
		return Math.max(0, ...[...this.clients].map(({ follows, subscriptions }) => follows.size + subscriptions.size));
	}

	/** Ends every connection. What is in memory is gone, with `losesDisk` everything. */
	stop(losesDisk: boolean): void {
		this.isUp = false;
		for (const { link } of this.clients) {
			link.cut();
		}
		this.clients.clear();
		for (const name of [...this.#streams.keys()].filter((each) => losesDisk || each.startsWith("memory:"))) {
			this.#streams.delete(name);
		}
	}

	/** The stream with a name, which is made if it is missing. */
	stream(name: string): Stream {
		const found = this.#streams.get(name);
		if (found !== undefined) {
			return found;
		}
		this.#made += 1;
		const created = new Date(this.world.date + this.#made).toISOString();
		const stream = { created, entries: new Map(), ids: new Set<string>(), last: 0 };
		this.#streams.set(name, stream);
		return stream;
	}

	/** Returns the new revision, or why the change is refused. */
	write(name: string, { key, text, expected, id = "" }: Change): number | "outdated" | "full" {
		const stream = this.stream(name);
		if (stream.ids.has(id)) {
			return stream.last;
		}
		if (this.isFull && text !== undefined) {
			return "full";
		}
		if (expected !== undefined && expected !== (stream.entries.get(key)?.revision ?? 0)) {
			return "outdated";
		}
		stream.last += 1;
		const entry = { key: key || `${stream.last}`, text, revision: stream.last, created: this.world.date };
		// The newest one comes last.
		stream.entries.delete(entry.key);
		stream.entries.set(entry.key, entry);
		if (id !== "") {
			stream.ids.add(id);
		}
		for (const client of this.clients) {
			for (const [onEntries, follow] of client.follows) {
				if (follow.stream === name) {
					this.#gather(client, onEntries, follow.waiting, entry);
				}
			}
		}
		return stream.last;
	}

	/** Sends a change soon, unless a later one of the same key replaces it before. */
	#gather(client: Client, onEntries: OnEntries, waiting: Map<string, Stored>, entry: Stored): void {
		const { random } = this.world;
		if (waiting.size === 0) {
			this.world.at(random.chance(0.3) ? random.between(0, MAX_GATHERING) : 0, undefined, () => {
				const entries = [...waiting.values()];
				waiting.clear();
				if (client.follows.has(onEntries)) {
					client.send(() => onEntries(entries));
				}
			});
		}
		waiting.delete(entry.key);
		waiting.set(entry.key, entry);
	}
}

/** Whether a subject is one of those with "*" for a part, or ">" for the rest. */
function matches(wanted: string, subject: string): boolean {
	const pattern = wanted.replaceAll(".", "\\.").replace("*", "[^.]+").replace(">", ".+");
	return new RegExp(`^${pattern}$`).test(subject);
}

class JetStreamApiError extends Error {
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

class ClosedConnectionError extends Error {}
class NeverThrown extends Error {}

class RequestError extends Error {
	isNoResponders(): boolean {
		return true;
	}
}

/** Values that arrive one after the other, until {@link end}. */
class Queue<T> implements AsyncIterable<T> {
	#values: T[] = [];
	#wake = (): void => {};
	#isOver = false;

	push(...values: readonly T[]): void {
		this.#values.push(...values);
		this.#wake();
	}

	end(): void {
		this.#isOver = true;
		this.#values = [];
		this.#wake();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T> {
		while (!this.#isOver) {
			const value = this.#values.shift();
			if (value !== undefined) {
				yield value;
			} else {
				await new Promise<void>((resolve) => {
					this.#wake = resolve;
				});
			}
		}
	}
}

interface ConnectOptions {
	readonly reconnectTimeWait: number;
	readonly pingInterval: number;
}

/** A connection that comes back by itself. */
class NatsConnection {
	readonly info = { max_payload: 1_048_576 };
	/** Names of streams by their subjects. */
	readonly streams = new Map<string, string>();
	readonly #hub: Hub;
	readonly #process: SimulatedProcess;
	readonly #options: ConnectOptions;
	readonly #statuses: Queue<{ readonly type: string }>[] = [];
	readonly #subscriptions = new Map<string, OnMessage>();
	/** Runs in NATS once the connection is back. */
	readonly #waiting: ((client: Client) => void)[] = [];
	/** Undefined while it is not open. */
	#client: Client | undefined;
	#isClosed = false;
	#unanswered = 0;

	constructor(hub: Hub, process: SimulatedProcess, options: ConnectOptions) {
		this.#hub = hub;
		this.#process = process;
		this.#options = options;
	}

	/** Rejects if NATS is not there. */
	async open(): Promise<void> {
		const { path } = this.#process;
		await this.#pass(this.#hub.world.random.between(...path.delay));
		while (path.state === "held") {
			await this.#pass(HELD_TIME);
		}
		if (this.#isClosed || !this.#hub.isUp || path.state === "cut") {
			throw Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
		}
		const client = new Client(this.#hub, this.#process, () => void this.#reconnect());
		this.#client = client;
		for (const [subject, listener] of this.#subscriptions) {
			this.#send(({ subscriptions }) => void subscriptions.set(subject, listener));
		}
		for (const task of this.#waiting.splice(0)) {
			this.#send(task);
		}
		this.#unanswered = 0;
		void this.#ping(client);
		this.#tell("reconnect");
	}

	status(): AsyncIterable<{ readonly type: string }> {
		const queue = new Queue<{ readonly type: string }>();
		this.#statuses.push(queue);
		return queue;
	}

	subscribe(subject: string, { callback }: { readonly callback: (error: null, message: object) => void }): void {
		const listener = ({ subject: own, text, reply = "", isLost }: Message): void => {
			const lost = isLost === true ? { code: 503, get: () => "" } : undefined;
			callback(null, { subject: own, data: Buffer.from(text), reply, headers: lost });
		};
		this.#subscriptions.set(subject, listener);
		this.#send(({ subscriptions }) => void subscriptions.set(subject, listener));
	}

	/** Rejects: gateways only look whether anybody receives the subject. */
	async request(subject: string, _data: string, { timeout }: { readonly timeout: number }): Promise<never> {
		const isWanted = ({ subscriptions }: Client): boolean =>
			[...subscriptions.keys()].some((each) => matches(each, subject));
		if (await this.call(() => [...this.#hub.clients].some(isWanted), timeout)) {
			throw new Error("timeout");
		}
		throw new RequestError("no responders");
	}

	/** The sender learns if nobody wants the message. */
	publish(subject: string, data: Uint8Array | string, { reply }: { readonly reply?: string } = {}): void {
		const message = { subject, text: Buffer.from(data).toString(), reply };
		this.#send((client) => {
			const wanted = [...this.#hub.clients].filter((each) => each.deliver(message));
			if (wanted.length === 0 && reply !== undefined) {
				client.deliver({ subject: reply, text: "", isLost: true });
			}
		});
	}

	/** Has something happen in NATS. Rejects if that does not answer. */
	async call<T>(run: (client: Client) => T, time = ANSWER_TIME): Promise<T> {
		if (this.#isClosed) {
			throw new ClosedConnectionError("closed connection");
		}
		return await new Promise((resolve, reject) => {
			const cancel = this.#hub.world.at(time, this.#process, () => reject(new Error("timeout")));
			this.#send((client) => {
				const result = run(client);
				client.send(() => {
					cancel();
					resolve(result);
				});
			});
		});
	}

	/** Changes a stream. Rejects with JetStreamApiError if NATS refuses that. */
	async write(stream: string, change: Change, time?: number): Promise<number> {
		const result = await this.call(() => this.#hub.write(stream, change), time);
		if (typeof result === "string") {
			throw result === "full"
				? new JetStreamApiError(10_077, "maximum bytes exceeded")
				: new JetStreamApiError(library.JetStreamApiCodes.StreamWrongLastSequence, "wrong last sequence");
		}
		return result;
	}

	/** Reads a stream from its first message on. */
	async follow<T>(stream: string, read: (entry: Stored) => readonly T[]) {
		const queue = new Queue<T>();
		const onEntries = (entries: readonly Stored[]): void => queue.push(...entries.flatMap(read));
		const stop = (): void => {
			this.#send(({ follows }) => void follows.delete(onEntries));
			queue.end();
		};
		try {
			await this.call(({ follows }) => {
				queue.push(...[...this.#hub.stream(stream).entries.values()].flatMap(read));
				follows.set(onEntries, { stream, waiting: new Map() });
			});
		} catch (error) {
			// NATS ends a consumer that nobody reads.
			stop();
			throw error;
		}
		return Object.assign(queue, { stop, close: stop });
	}

	async entry(stream: string, key: string): Promise<Stored | undefined> {
		return await this.call(() => this.#hub.stream(stream).entries.get(key));
	}

	async describe(name: string) {
		return await this.call(() => {
			const { created, last, entries } = this.#hub.stream(name);
			return { created, state: { last_seq: last, messages: entries.size } };
		});
	}

	async flush(): Promise<void> {
		await this.call(() => {});
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		this.#client?.link.close(0);
		this.#client = undefined;
		for (const queue of this.#statuses) {
			queue.end();
		}
	}

	async #reconnect(): Promise<void> {
		this.#client = undefined;
		this.#tell("disconnect");
		let isOpen = false;
		while (!isOpen && !this.#isClosed) {
			await this.#pass(this.#options.reconnectTimeWait);
			isOpen = await this.open().then(
				() => true,
				() => false,
			);
		}
	}

	/** Ends a connection that does not answer. */
	async #ping(client: Client): Promise<void> {
		for (;;) {
			await this.#pass(this.#options.pingInterval);
			if (this.#client !== client) {
				return;
			}
			if (this.#unanswered === 2) {
				client.link.close(0);
				void this.#reconnect();
				return;
			}
			this.#unanswered += 1;
			this.#send(() =>
				client.send(() => {
					this.#unanswered = 0;
				}),
			);
		}
	}

	#tell(type: string): void {
		for (const queue of this.#statuses) {
			queue.push({ type });
		}
	}

	#send(task: (client: Client) => void): void {
		const client = this.#client;
		if (client === undefined) {
			this.#waiting.push(task);
		} else if (this.#process.mayGoOn()) {
			client.link.send(0, () => task(client));
		}
	}

	#pass(duration: number): Promise<void> {
		return new Promise((resolve) => void this.#hub.world.at(duration, this.#process, resolve));
	}
}

function kvEntryOf({ key, text, revision, created }: Stored) {
	const value = Buffer.from(text ?? "");
	return { key, operation: text === undefined ? "DEL" : "PUT", value, revision, created: new Date(created) };
}

class Kvm {
	readonly #connection: NatsConnection;

	constructor(connection: NatsConnection) {
		this.#connection = connection;
	}

	/** Opens a bucket, which is made if it is missing. */
	async create(name: string, { storage }: { readonly storage: string }) {
		const connection = this.#connection;
		const stream = storage === "memory" ? `memory:${name}` : name;
		const write = (key: string, text: string | undefined, expected: number | undefined): Promise<number> =>
			connection.write(stream, { key, text, expected });
		const get = async (key: string) => {
			const entry = await connection.entry(stream, key);
			return entry === undefined ? null : kvEntryOf(entry);
		};
		await connection.describe(stream);
		return {
			get,
			status: async () => ({ streamInfo: await connection.describe(stream) }),
			watch: () => connection.follow(stream, (entry) => [kvEntryOf(entry)]),
			put: (key: string, text: string, options: { previousSeq?: number }) => write(key, text, options.previousSeq),
			delete: (key: string, options: { previousSeq?: number }) => write(key, undefined, options.previousSeq),
			create: (key: string, text: string) =>
				write(key, text, 0).catch(async (error) => {
					const found = await get(key);
					if (found?.operation !== "DEL") {
						throw error;
					}
					return await write(key, text, found.revision);
				}),
		};
	}
}

/** What the client libraries export. */
const library = {
	JetStreamApiCodes: { StreamWrongLastSequence: 10_071, StreamWrongLastSequenceUnknown: 10_164 },
	DeliverPolicy: { StartSequence: "by_start_sequence" },
	StorageType: { File: "file", Memory: "memory" },
	errors: {
		ClosedConnectionError,
		InvalidArgumentError: NeverThrown,
		PermissionViolationError: NeverThrown,
		RequestError,
	},
	JetStreamApiError,
	Kvm,
	/** For messages in several parts, which the simulation does not have. */
	headers: () => ({ set: (): void => {} }),
	nanos: (ms: number): number => ms * 1_000_000,
	jetstreamManager: async (connection: NatsConnection) => ({
		streams: {
			add: async (config: { readonly name: string; readonly subjects: readonly string[] }) => {
				connection.streams.set(String(config.subjects), config.name);
				return await connection.describe(config.name);
			},
		},
	}),
	jetstream: (connection: NatsConnection) => ({
		publish: (subject: string, text: string, options: { readonly timeout: number; readonly msgID: string }) =>
			connection.write(connection.streams.get(subject) ?? "", { key: "", text, id: options.msgID }, options.timeout),
		consumers: {
			get: async (stream: string, { opt_start_seq: from }: { readonly opt_start_seq: number }) => ({
				consume: () =>
					connection.follow(stream, ({ revision: seq, text }) =>
						seq >= from ? [{ seq, data: Buffer.from(text ?? "") }] : [],
					),
			}),
		},
	}),
};

/** Makes the client libraries, for connections of the process that is running. */
export const makeLibrary = (where: () => readonly [Hub, SimulatedProcess]) => ({
	...library,
	connect: async (options: ConnectOptions): Promise<NatsConnection> => {
		const connection = new NatsConnection(...where(), options);
		await connection.open();
		return connection;
	},
});
