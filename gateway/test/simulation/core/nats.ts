// The part of the clients of NATS that gateways use, over a simulated connection: see hub.ts.
import type { Reply, Request, Stored } from "../hub.js";

/** A connection to the hub. */
export interface Wire {
	readonly send: (text: string) => void;
	readonly close: () => void;
}

export interface WireListener {
	readonly opened: () => void;
	readonly received: (text: string) => void;
	/** The connection has ended, or could not be opened. */
	readonly ended: () => void;
}

export type Dial = (address: string, listener: WireListener) => Wire;

/** Of the sandbox. */
declare const dialNats: Dial;

/** Milliseconds for an answer of JetStream. */
const ANSWER_TIME = 5_000;

export const JetStreamApiCodes = { StreamWrongLastSequence: 10_071, StreamWrongLastSequenceUnknown: 10_164 };
export const DeliverPolicy = { StartSequence: "by_start_sequence" };
export const StorageType = { File: "file", Memory: "memory" };

export class JetStreamApiError extends Error {
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

class ClosedConnectionError extends Error {}
class NeverThrown extends Error {}

export const errors = {
	ClosedConnectionError,
	InvalidArgumentError: NeverThrown,
	PermissionViolationError: NeverThrown,
	RequestError: NeverThrown,
};

export function credsAuthenticator(): undefined {}

export const nanos = (ms: number): number => ms * 1_000_000;

let inboxes = 0;

export function createInbox(): string {
	inboxes += 1;
	return `_INBOX.${inboxes}`;
}

/** Forgets the world before. */
export function resetNats(): void {
	inboxes = 0;
}

/** Headers are for messages in several parts, which the simulation does not have. */
export const headers = () => ({ set: (): void => {} });

/** Values that arrive one after the other, until {@link end}. */
class Queue<T> implements AsyncIterable<T> {
	readonly #values: T[] = [];
	#wake = (): void => {};
	#isOver = false;

	push(...values: readonly T[]): void {
		this.#values.push(...values);
		this.#wake();
	}

	end(): void {
		this.#isOver = true;
		this.#values.length = 0;
		this.#wake();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T> {
		for (;;) {
			while (this.#values.length > 0) {
				yield this.#values.shift() as T;
			}
			if (this.#isOver) {
				return;
			}
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}
}

interface ConnectOptions {
	readonly servers: string;
	readonly reconnectTimeWait: number;
	readonly pingInterval: number;
	readonly waitOnFirstConnect?: boolean;
}

interface Message {
	readonly subject: string;
	readonly data: Uint8Array;
	readonly reply: string;
	readonly headers: { readonly code: number; readonly get: () => string } | undefined;
}

interface SubscribeOptions {
	readonly max?: number;
	readonly callback: (error: null, message: Message) => void;
}

type Unanswered<R> = R extends { readonly call: number } ? Omit<R, "call"> : never;

/** Rejects if NATS is not there, unless `waitOnFirstConnect` is set. */
export async function connect(options: ConnectOptions): Promise<NatsConnection> {
	const connection = new NatsConnection(options);
	await connection.open(options.waitOnFirstConnect !== true);
	return connection;
}

/** A connection that comes back by itself. */
export class NatsConnection {
	readonly info = { max_payload: 1_048_576 };
	/** Names of streams by their subjects. */
	readonly streams = new Map<string, string>();
	readonly #options: ConnectOptions;
	readonly #statuses = new Set<Queue<{ readonly type: string }>>();
	readonly #subscriptions = new Map<string, SubscribeOptions["callback"]>();
	readonly #calls = new Map<number, (reply: Reply) => void>();
	readonly #follows = new Map<number, (entries: readonly Stored[]) => void>();
	/** Sent once the connection is back. */
	readonly #waiting: Request[] = [];
	#wire: Wire | undefined;
	#isOpen = false;
	#isClosed = false;
	#count = 0;
	#unanswered = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: ConnectOptions) {
		this.#options = options;
	}

	/** Settles when the connection is open for the first time. Rejects after one attempt if it may be only one. */
	async open(isOnce: boolean): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			const attempt = (): void => {
				this.#wire = dialNats(this.#options.servers, {
					opened: () => {
						this.#opened();
						resolve();
					},
					received: (text) => this.#received(JSON.parse(text) as Reply),
					ended: () => {
						if (this.#count === 0 && isOnce && !this.#isOpen) {
							reject(Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" }));
							return;
						}
						this.#ended();
						if (!this.#isClosed) {
							setTimeout(attempt, this.#options.reconnectTimeWait);
						}
					},
				});
			};
			attempt();
		});
	}

	status(): AsyncIterable<{ readonly type: string }> {
		const queue = new Queue<{ readonly type: string }>();
		this.#statuses.add(queue);
		return queue;
	}

	subscribe(subject: string, { max = Number.POSITIVE_INFINITY, callback }: SubscribeOptions) {
		let left = max;
		const unsubscribe = (): void => {
			if (this.#subscriptions.delete(subject)) {
				this.#send({ do: "unsubscribe", subject });
			}
		};
		this.#subscriptions.set(subject, (error, message) => {
			left -= 1;
			if (left === 0) {
				unsubscribe();
			}
			callback(error, message);
		});
		this.#send({ do: "subscribe", subject });
		return { unsubscribe };
	}

	publish(subject: string, data: Uint8Array | string, { reply }: { readonly reply?: string } = {}): void {
		this.#send({ do: "publish", subject, text: Buffer.from(data).toString(), reply });
	}

	/** Rejects if NATS does not answer. */
	async call(request: Unanswered<Request>, time = ANSWER_TIME): Promise<Reply> {
		if (this.#isClosed) {
			throw new ClosedConnectionError("closed connection");
		}
		this.#count += 1;
		const call = this.#count;
		return await new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				this.#calls.delete(call);
				reject(new Error("timeout"));
			}, time);
			this.#calls.set(call, (reply) => {
				clearTimeout(timer);
				resolve(reply);
			});
			this.#send({ ...request, call } as Request);
		});
	}

	/** Reads a stream from its first message on. Settles when those that it has are read. */
	async follow(stream: string, onEntries: (entries: readonly Stored[]) => void): Promise<() => void> {
		const { call = 0, entries = [] } = await this.call({ do: "follow", stream });
		this.#follows.set(call, onEntries);
		onEntries(entries);
		return () => {
			if (this.#follows.delete(call)) {
				this.#send({ do: "unfollow", call });
			}
		};
	}

	async flush(): Promise<void> {
		await this.call({ do: "ping" });
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		this.#wire?.close();
		for (const queue of this.#statuses) {
			queue.end();
		}
	}

	#opened(): void {
		this.#isOpen = true;
		for (const subject of this.#subscriptions.keys()) {
			this.#send({ do: "subscribe", subject });
		}
		for (const request of this.#waiting.splice(0)) {
			this.#send(request);
		}
		this.#unanswered = 0;
		this.#ping();
		this.#tell("reconnect");
	}

	#ended(): void {
		clearTimeout(this.#timer);
		this.#follows.clear();
		if (this.#isOpen) {
			this.#isOpen = false;
			this.#tell("disconnect");
		}
	}

	/** Ends a connection that does not answer. */
	#ping(): void {
		this.#timer = setTimeout(() => {
			if (this.#unanswered === 2) {
				this.#wire?.close();
				return;
			}
			this.#unanswered += 1;
			this.call({ do: "ping" }, 2 * this.#options.pingInterval).then(
				() => {
					this.#unanswered = 0;
				},
				() => {},
			);
			this.#ping();
		}, this.#options.pingInterval);
	}

	#tell(type: string): void {
		for (const queue of this.#statuses) {
			queue.push({ type });
		}
	}

	#send(request: Request): void {
		if (!this.#isOpen) {
			if (request.do !== "subscribe" && request.do !== "unsubscribe") {
				this.#waiting.push(request);
			}
			return;
		}
		this.#wire?.send(JSON.stringify(request));
	}

	#received(reply: Reply): void {
		const { call = 0, wanted, subject = "", text = "", isLost } = reply;
		if (wanted !== undefined) {
			const lost = isLost === true ? { code: 503, get: () => "" } : undefined;
			const message = { subject, data: Buffer.from(text), reply: reply.reply ?? "", headers: lost };
			this.#subscriptions.get(wanted)?.(null, message);
			return;
		}
		const answered = this.#calls.get(call);
		this.#calls.delete(call);
		if (answered !== undefined) {
			answered(reply);
		} else {
			this.#follows.get(call)?.(reply.entries ?? []);
		}
	}
}

interface Written {
	readonly previousSeq?: number;
}

interface KvEntry {
	readonly key: string;
	readonly operation: "PUT" | "DEL";
	readonly value: Uint8Array;
	readonly revision: number;
	readonly created: Date;
}

export class Kvm {
	readonly #connection: NatsConnection;

	constructor(connection: NatsConnection) {
		this.#connection = connection;
	}

	/** Opens a bucket, which is made if it is missing. */
	async create(name: string, { storage = "file" }: { readonly storage?: string }): Promise<Bucket> {
		const bucket = new Bucket(this.#connection, storage === "memory" ? `memory:${name}` : name);
		await bucket.status();
		return bucket;
	}
}

class Bucket {
	readonly #connection: NatsConnection;
	readonly #stream: string;

	constructor(connection: NatsConnection, stream: string) {
		this.#connection = connection;
		this.#stream = stream;
	}

	async status() {
		return { streamInfo: await streamInfo(this.#connection, this.#stream) };
	}

	async create(key: string, text: string): Promise<number> {
		try {
			return await this.put(key, text, { previousSeq: 0 });
		} catch (error) {
			const found = await this.get(key);
			if (found?.operation !== "DEL") {
				throw error;
			}
			return await this.put(key, text, { previousSeq: found.revision });
		}
	}

	async put(key: string, text: string, { previousSeq: expected }: Written = {}): Promise<number> {
		return await write(this.#connection, { stream: this.#stream, key, text, expected });
	}

	async update(key: string, text: string, previousSeq: number): Promise<number> {
		return await this.put(key, text, { previousSeq });
	}

	async delete(key: string, { previousSeq: expected }: Written = {}): Promise<void> {
		await write(this.#connection, { stream: this.#stream, key, expected });
	}

	async get(key: string): Promise<KvEntry | null> {
		const { entry } = await this.#connection.call({ do: "read", stream: this.#stream, key });
		return entry === undefined ? null : kvEntryOf(entry);
	}

	async watch(): Promise<AsyncIterable<KvEntry> & { readonly stop: () => void }> {
		const queue = new Queue<KvEntry>();
		const onEntries = (entries: readonly Stored[]): void => queue.push(...entries.map(kvEntryOf));
		const unfollow = await this.#connection.follow(this.#stream, onEntries);
		const stop = (): void => {
			unfollow();
			queue.end();
		};
		return Object.assign(queue, { stop });
	}
}

function kvEntryOf({ key, text, revision, created }: Stored): KvEntry {
	const value = Buffer.from(text ?? "");
	return { key, operation: text === undefined ? "DEL" : "PUT", value, revision, created: new Date(created) };
}

async function streamInfo(connection: NatsConnection, stream: string) {
	const { created = "", last = 0, entries = [] } = await connection.call({ do: "open", stream });
	return { created, state: { last_seq: last, messages: entries.length } };
}

async function write(
	connection: NatsConnection,
	change: Omit<Request & { do: "write" }, "do" | "call">,
	time?: number,
): Promise<number> {
	const { refused, last = 0 } = await connection.call({ do: "write", ...change }, time);
	if (refused === "outdated") {
		throw new JetStreamApiError(JetStreamApiCodes.StreamWrongLastSequence, "wrong last sequence");
	}
	if (refused === "full") {
		throw new JetStreamApiError(10_077, "maximum bytes exceeded");
	}
	return last;
}

interface StreamConfig {
	readonly name: string;
	readonly subjects: readonly string[];
}

export async function jetstreamManager(connection: NatsConnection) {
	const add = async ({ name, subjects }: StreamConfig) => {
		for (const subject of subjects) {
			connection.streams.set(subject, name);
		}
		return await streamInfo(connection, name);
	};
	return { streams: { add } };
}

interface PublishOptions {
	readonly timeout: number;
	readonly msgID: string;
}

export function jetstream(connection: NatsConnection) {
	return {
		publish: (subject: string, text: string, { timeout, msgID: id }: PublishOptions) =>
			write(connection, { stream: connection.streams.get(subject) ?? "", key: "", text, id }, timeout),
		consumers: {
			get: async (stream: string, { opt_start_seq: from }: { readonly opt_start_seq: number }) => ({
				consume: () => consume(connection, stream, from),
			}),
		},
	};
}

interface StreamMessage {
	readonly seq: number;
	readonly data: Uint8Array;
}

async function consume(connection: NatsConnection, stream: string, from: number) {
	const queue = new Queue<StreamMessage>();
	const unfollow = await connection.follow(stream, (entries) => {
		const wanted = entries.filter(({ revision }) => revision >= from);
		queue.push(...wanted.map(({ revision: seq, text }) => ({ seq, data: Buffer.from(text ?? "") })));
	});
	const close = async (): Promise<void> => {
		unfollow();
		queue.end();
	};
	return Object.assign(queue, { close });
}
