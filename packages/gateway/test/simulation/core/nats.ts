// The part of the clients of NATS that gateways use, over a simulated connection: see hub.ts.
import type { Change, Client, Dial, Hub, Message, Stored, Task, Wire } from "../hub.js";

/** Defined by the sandbox. */
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

class RequestError extends Error {
	isNoResponders(): boolean {
		return true;
	}
}

export const errors = {
	ClosedConnectionError,
	InvalidArgumentError: NeverThrown,
	PermissionViolationError: NeverThrown,
	RequestError,
};

export function credsAuthenticator(): undefined {}

export const nanos = (ms: number): number => ms * 1_000_000;

/** Headers are for messages in several parts, which the simulation does not have. */
export const headers = () => ({ set: (): void => {} });

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
			while (this.#values.length > 0) {
				yield this.#values.shift() as T;
			}
			if (!this.#isOver) {
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

interface Received {
	readonly subject: string;
	readonly data: Uint8Array;
	readonly reply: string;
	readonly headers: { readonly code: number; readonly get: () => string } | undefined;
}

interface SubscribeOptions {
	readonly callback: (error: null, message: Received) => void;
}

/** Rejects if NATS is not there. */
export async function connect(options: ConnectOptions): Promise<NatsConnection> {
	const connection = new NatsConnection(options);
	await connection.open();
	return connection;
}

/** A connection that comes back by itself. */
export class NatsConnection {
	readonly info = { max_payload: 1_048_576 };
	/** Names of streams by their subjects. */
	readonly streams = new Map<string, string>();
	readonly #options: ConnectOptions;
	readonly #statuses: Queue<{ readonly type: string }>[] = [];
	readonly #subscriptions = new Map<string, (message: Message) => void>();
	/** Sent once the connection is back. */
	readonly #waiting: Task[] = [];
	#wire: Wire | undefined;
	#isOpen = false;
	#isClosed = false;
	#unanswered = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: ConnectOptions) {
		this.#options = options;
	}

	/** Settles after the first attempt. */
	async open(): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			let isFirst = true;
			const attempt = (): void => {
				this.#wire = dialNats({
					opened: () => {
						isFirst = false;
						this.#opened();
						resolve();
					},
					ended: () => {
						if (isFirst) {
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
		this.#statuses.push(queue);
		return queue;
	}

	subscribe(subject: string, { callback }: SubscribeOptions): void {
		const listener = ({ subject: own, text, reply = "", isLost }: Message): void => {
			const lost = isLost === true ? { code: 503, get: () => "" } : undefined;
			callback(null, { subject: own, data: Buffer.from(text), reply, headers: lost });
		};
		this.#subscriptions.set(subject, listener);
		this.#send((_hub, { subscriptions }) => void subscriptions.set(subject, listener));
	}

	/** Rejects: gateways only look whether anybody receives the subject. */
	async request(subject: string, _data: string, { timeout }: { readonly timeout: number }): Promise<never> {
		if (await this.call((hub) => hub.isWanted(subject), timeout)) {
			throw new Error("timeout");
		}
		throw new RequestError("no responders");
	}

	publish(subject: string, data: Uint8Array | string, { reply }: { readonly reply?: string } = {}): void {
		const text = Buffer.from(data).toString();
		this.#send((hub, client) => hub.publish(client, { subject, text, reply }));
	}

	/** Has something happen in NATS. Rejects if that does not answer. */
	async call<T>(run: (hub: Hub, client: Client) => T, time = ANSWER_TIME): Promise<T> {
		if (this.#isClosed) {
			throw new ClosedConnectionError("closed connection");
		}
		return await new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error("timeout")), time);
			this.#send((hub, client) => {
				const result = run(hub, client);
				client.send(() => {
					clearTimeout(timer);
					resolve(result);
				});
			});
		});
	}

	/** Changes a stream. Rejects with JetStreamApiError if NATS refuses that. */
	async write(stream: string, change: Change, time?: number): Promise<number> {
		const result = await this.call((hub) => hub.write(stream, change), time);
		if (result === "outdated") {
			throw new JetStreamApiError(JetStreamApiCodes.StreamWrongLastSequence, "wrong last sequence");
		}
		if (result === "full") {
			throw new JetStreamApiError(10_077, "maximum bytes exceeded");
		}
		return result;
	}

	/** Reads a stream from its first message on. */
	async follow<T>(stream: string, read: (entry: Stored) => readonly T[]) {
		const queue = new Queue<T>();
		const onEntries = (entries: readonly Stored[]): void => queue.push(...entries.flatMap(read));
		await this.call((hub, client) => hub.follow(client, stream, onEntries));
		const stop = (): void => {
			this.#send((_hub, { follows }) => void follows.delete(onEntries));
			queue.end();
		};
		return Object.assign(queue, { stop, close: stop });
	}

	async describe(stream: string) {
		return await this.call((hub) => {
			const { created, last, entries } = hub.stream(stream);
			return { created, state: { last_seq: last, messages: entries.size } };
		});
	}

	async flush(): Promise<void> {
		await this.call(() => {});
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
		for (const [subject, listener] of this.#subscriptions) {
			this.#send((_hub, { subscriptions }) => void subscriptions.set(subject, listener));
		}
		for (const task of this.#waiting.splice(0)) {
			this.#send(task);
		}
		this.#unanswered = 0;
		this.#ping();
		this.#tell("reconnect");
	}

	#ended(): void {
		clearTimeout(this.#timer);
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
			const answered = (): void => {
				this.#unanswered = 0;
			};
			this.call(() => {}, 2 * this.#options.pingInterval).then(answered, () => {});
			this.#ping();
		}, this.#options.pingInterval);
	}

	#tell(type: string): void {
		for (const queue of this.#statuses) {
			queue.push({ type });
		}
	}

	#send(task: Task): void {
		if (this.#isOpen) {
			this.#wire?.send(task);
		} else {
			this.#waiting.push(task);
		}
	}
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

interface Written {
	readonly previousSeq?: number;
}

class Bucket {
	readonly #connection: NatsConnection;
	readonly #stream: string;

	constructor(connection: NatsConnection, stream: string) {
		this.#connection = connection;
		this.#stream = stream;
	}

	async status() {
		return { streamInfo: await this.#connection.describe(this.#stream) };
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
		return await this.#connection.write(this.#stream, { key, text, expected });
	}

	async delete(key: string, { previousSeq: expected }: Written = {}): Promise<void> {
		await this.#connection.write(this.#stream, { key, expected });
	}

	async get(key: string) {
		const entry = await this.#connection.call((hub) => hub.stream(this.#stream).entries.get(key));
		return entry === undefined ? null : kvEntryOf(entry);
	}

	async watch() {
		return await this.#connection.follow(this.#stream, (entry) => [kvEntryOf(entry)]);
	}
}

function kvEntryOf({ key, text, revision, created }: Stored) {
	const value = Buffer.from(text ?? "");
	return { key, operation: text === undefined ? "DEL" : "PUT", value, revision, created: new Date(created) };
}

export const jetstreamManager = async (connection: NatsConnection) => ({
	streams: {
		add: async ({
			name,
			subjects: [subject = ""],
		}: {
			readonly name: string;
			readonly subjects: readonly string[];
		}) => {
			connection.streams.set(subject, name);
			return await connection.describe(name);
		},
	},
});

interface PublishOptions {
	readonly timeout: number;
	readonly msgID: string;
}

export const jetstream = (connection: NatsConnection) => ({
	publish: (subject: string, text: string, { timeout, msgID: id }: PublishOptions) =>
		connection.write(connection.streams.get(subject) ?? "", { key: "", text, id }, timeout),
	consumers: {
		get: async (stream: string, { opt_start_seq: from }: { readonly opt_start_seq: number }) => ({
			consume: () =>
				connection.follow(stream, ({ revision: seq, text }) =>
					seq >= from ? [{ seq, data: Buffer.from(text ?? "") }] : [],
				),
		}),
	},
});
