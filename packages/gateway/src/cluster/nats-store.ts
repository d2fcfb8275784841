import { createHash } from "node:crypto";
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { type KV, Kvm, type KvOptions, type KvWatchEntry } from "@nats-io/kv";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { type Entry, Store, StoreError } from "xs-mcp-manager/core";
import * as z from "zod";

/** Characters of a segment of a key; a longer one is hashed. NATS ends a connection whose line has more than 4,096. */
const MAX_SEGMENT = 150;

/** Said to whoever asks for a change. */
const UNREACHABLE = "the cluster's store is unreachable";

/** Milliseconds until entries that could not be followed are followed again. */
const RETRY_TIME = 1_000;

/** Milliseconds of difference that are logged: then clocks are not set by anything. */
const MAX_DIFFERENCE = 5_000;

/** Milliseconds after which a measurement of the clock replaces a more exact one: clocks drift. */
const MAX_AGE = 600_000;

const ENTRY = z.object({ key: z.string(), value: z.unknown() });

/** A change that is stored, and waits until the copy has it. */
interface Waiter {
	readonly revision: number;
	readonly settle: (stored?: Date) => void;
	readonly fail: (error: StoreError) => void;
}

/** Difference to the clock of NATS, by which gateways give each other times: their own clocks may differ. */
export class NatsClock {
	#difference = 0;
	/** Milliseconds that the difference may be more or less. */
	#error = Number.POSITIVE_INFINITY;
	#measured = 0;
	#isWrong = false;

	/** Milliseconds since 1970. */
	get now(): number {
		return Date.now() + this.#difference;
	}

	/**
	 * Measures the difference by the stamp of something that was sent and stored between two times of this computer's clock.
	 * Returns a warning, once for a clock that is wrong.
	 */
	learn(stamp: number, sent: number, stored: number): string | undefined {
		const error = (stored - sent) / 2 + 1;
		if (error < this.#error || performance.now() - this.#measured > MAX_AGE) {
			this.#difference = Math.round(stamp - (sent + stored) / 2);
			this.#error = error;
			this.#measured = performance.now();
		}
		const isWrong = Math.abs(this.#difference) - this.#error > MAX_DIFFERENCE;
		const isNew = isWrong && !this.#isWrong;
		this.#isWrong = isWrong;
		const seconds = Math.abs(this.#difference / 1_000).toFixed(1);
		const place = `${seconds} s ${this.#difference > 0 ? "behind" : "ahead of"} that of NATS`;
		return isNew ? `cluster: this computer's clock is ${place}. Set it by NTP` : undefined;
	}
}

/**
 * A store that gateways share: a bucket of NATS JetStream. One bucket is one stream, so its changes have one order for all.
 *
 * The copy follows the bucket, and is a state that it has had: also while NATS cannot be reached, when every change is refused
 * at once. A change that NATS does not answer is "unknown": NATS may still make it later.
 */
export class NatsStore extends Store {
	readonly #connection: NatsConnection;
	readonly #name: string;
	readonly #settings: Partial<KvOptions>;
	readonly #clock: NatsClock;
	/** Undefined while it cannot be reached. */
	#bucket: KV | undefined;
	/** Ends what follows the bucket. */
	#stop: () => void = () => {};
	/** The revision that the copy has reached. */
	#reached = 0;
	/** The entry that was received last. */
	#newest: KvWatchEntry | undefined;
	/** When the bucket was made: another time means that NATS has lost its disk. */
	#created = "";
	#waiters: Waiter[] = [];
	/** Counts the connections to NATS. */
	#attempt = 0;
	#isClosed = false;

	private constructor(connection: NatsConnection, name: string, settings: Partial<KvOptions>, clock: NatsClock) {
		super();
		this.#connection = connection;
		this.#name = name;
		// No direct reads: they may return an older entry than the one written.
		this.#settings = { ...settings, history: 1, allow_direct: false };
		this.#clock = clock;
	}

	/**
	 * Opens a bucket, made if it is missing, and reads it. Rejects with an Error of NATS.
	 *
	 * @param settings NATS reserves `max_bytes`, so that what devices fill cannot keep an operator from removing something
	 * @param clock stores of one connection share it
	 */
	static async open(
		connection: NatsConnection,
		name: string,
		settings: Partial<KvOptions>,
		clock = new NatsClock(),
	): Promise<NatsStore> {
		const store = new NatsStore(connection, name, settings, clock);
		await store.#follow();
		void store.#watchConnection();
		return store;
	}

	override get isConnected(): boolean {
		return this.#bucket !== undefined;
	}

	override get now(): number {
		return this.#clock.now;
	}

	async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		const text = JSON.stringify({ key, value });
		const sent = Date.now();
		const revision = await this.#change(key, async (bucket, name) =>
			expected === 0
				? await bucket.create(name, text)
				: await bucket.put(name, text, expected === undefined ? {} : { previousSeq: expected }),
		);
		const stored = Date.now();
		const stamp = await this.#until(revision);
		const warning = stamp && this.#clock.learn(stamp.getTime(), sent, stored);
		if (warning !== undefined) {
			this.emit("warning", warning);
		}
		return { key, value, revision };
	}

	async delete(key: string, expected?: number): Promise<void> {
		const marker = await this.#change(key, async (bucket, name) => {
			await bucket.delete(name, expected === undefined ? {} : { previousSeq: expected });
			return await bucket.get(name);
		});
		await this.#until(marker?.revision ?? 0);
	}

	override async sync(): Promise<void> {
		const { streamInfo } = await this.#change("", (bucket) => bucket.status());
		await this.#until(streamInfo.state.last_seq);
	}

	override async close(): Promise<void> {
		await super.close();
		this.#isClosed = true;
		this.#leave();
	}

	/** Makes a change. After a conflict, the copy has what was written instead. */
	async #change<T>(key: string, write: (bucket: KV, name: string) => Promise<T>): Promise<T> {
		const bucket = this.#bucket;
		const name = nameOf(key);
		try {
			if (bucket === undefined) {
				throw new StoreError("not-written", UNREACHABLE);
			}
			const result = await write(bucket, name);
			this.emit("saved", undefined);
			return result;
		} catch (error) {
			const problem = problemOf(key, error as Error);
			if (problem.code !== "conflict") {
				this.emit("saved", problem);
			} else if (bucket !== undefined) {
				const found = await bucket.get(name).catch(() => null);
				await this.#until(found?.revision ?? 0).catch(() => {});
			}
			throw problem;
		}
	}

	/** Settles when the copy has reached a revision, with the time of NATS if it was seen. Rejects if the bucket is lost. */
	async #until(revision: number): Promise<Date | undefined> {
		if (this.#bucket === undefined) {
			throw notSeen();
		}
		if (this.#reached >= revision) {
			return this.#newest?.revision === revision ? this.#newest.created : undefined;
		}
		return await new Promise((settle, fail) => this.#waiters.push({ revision, settle, fail }));
	}

	/** Opens the bucket, reads it and follows it. Rejects if that fails, or the connection is lost meanwhile. */
	async #follow(): Promise<void> {
		const bucket = await new Kvm(this.#connection).create(this.#name, this.#settings);
		const { state, created } = (await bucket.status()).streamInfo;
		const found = await bucket.watch();
		let isStopped = false;
		this.#stop = () => {
			isStopped = true;
			found.stop();
		};
		const entries = new Map<string, Entry>();
		const begin = (): void => {
			const isSame = this.#created === created;
			this.#created = created;
			this.#reached = state.last_seq;
			this.replace(entries, undefined, isSame);
			this.#bucket = bucket;
		};
		await new Promise<void>((resolve, reject) => {
			let isRead = false;
			const onRead = (revision: number): void => {
				isRead = revision >= state.last_seq;
				if (isRead) {
					begin();
					resolve();
				}
			};
			// An empty bucket has nothing to read.
			onRead(state.messages === 0 ? state.last_seq : -1);
			const read = async (): Promise<void> => {
				for await (const each of found) {
					if (isRead) {
						this.#received(each);
						continue;
					}
					const entry = this.#entryIn(each);
					if (entry !== undefined) {
						entries.set(entry.key, entry);
					}
					onRead(each.revision);
				}
				throw new Error(`bucket ${this.#name}: the watch has ended`);
			};
			read().catch((error: Error) => {
				reject(error);
				if (isRead && !isStopped) {
					this.emit("warning", error.message);
					void this.#rejoin();
				}
			});
		});
	}

	#received(found: KvWatchEntry): void {
		const { operation, revision, created } = found;
		this.#reached = revision;
		this.#newest = found;
		const entry = this.#entryIn(found);
		if (entry !== undefined) {
			this.apply(entry.key, entry);
		} else if (operation !== "PUT") {
			this.apply(this.#keyOf(found.key), undefined);
		}
		const settled = this.#waiters.filter((waiter) => waiter.revision <= revision);
		this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
		for (const { revision: own, settle } of settled) {
			settle(own === revision ? created : undefined);
		}
	}

	/** The key with a name: a removal has nothing else. */
	#keyOf(name: string): string {
		const [room, ...segments] = name.split(".");
		return segments.some((segment) => segment.startsWith("="))
			? (this.list(`${room}/`).find(({ key }) => nameOf(key) === name)?.key ?? "")
			: [room, ...segments.map((segment) => Buffer.from(segment, "base64url").toString())].join("/");
	}

	/** Undefined if it is a removal, or damaged. */
	#entryIn({ key: name, operation, value: bytes, revision }: KvWatchEntry): Entry | undefined {
		if (operation !== "PUT") {
			return undefined;
		}
		try {
			const { key, value } = ENTRY.parse(JSON.parse(Buffer.from(bytes).toString()));
			if (nameOf(key) !== name) {
				throw new Error(`its key is ${key}`);
			}
			return { key, value, revision };
		} catch (error) {
			this.emit("warning", `bucket ${this.#name}: ${name}: not an entry: ${(error as Error).message}`);
			return undefined;
		}
	}

	async #watchConnection(): Promise<void> {
		for await (const { type } of this.#connection.status()) {
			if (type === "disconnect") {
				this.#leave();
			} else if (type === "reconnect") {
				void this.#rejoin();
			}
		}
	}

	#leave(): void {
		this.#stop();
		const wasConnected = this.#bucket !== undefined;
		this.#bucket = undefined;
		for (const { fail } of this.#waiters.splice(0)) {
			fail(notSeen());
		}
		if (wasConnected && !this.#isClosed) {
			this.emit("disconnected");
		}
	}

	/** Follows the bucket again, until that succeeds or the connection is lost. */
	async #rejoin(): Promise<void> {
		this.#leave();
		this.#attempt += 1;
		const attempt = this.#attempt;
		const isCurrent = (): boolean => attempt === this.#attempt && !this.#isClosed;
		while (isCurrent()) {
			try {
				await this.#follow();
				this.emit("connected");
				this.resume();
				return;
			} catch (error) {
				if (isCurrent()) {
					this.emit("saved", problemOf(this.#name, error as Error));
				}
				await new Promise((resolve) => setTimeout(resolve, RETRY_TIME).unref());
			}
		}
	}
}

/**
 * The name of a key in a bucket, which may have letters, digits and few signs: the first segment as it is, the others in
 * base64url, and a hash of those that are long.
 */
function nameOf(key: string): string {
	const [room, ...segments] = key.split("/");
	const names = segments.map((segment) => {
		const name = Buffer.from(segment).toString("base64url");
		return name.length > MAX_SEGMENT ? `=${createHash("sha256").update(segment).digest("base64url")}` : name || "=";
	});
	return [room, ...names].join(".");
}

/** The error of a change that was stored just before the connection was lost. */
function notSeen(): StoreError {
	return new StoreError("unknown", `${UNREACHABLE} since the change was sent`);
}

/** Converts an error of NATS to the problem of a change. */
function problemOf(key: string, error: Error): StoreError {
	if (error instanceof StoreError) {
		return error;
	}
	if (error instanceof JetStreamApiError) {
		const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
		const isConflict = error.code === StreamWrongLastSequence || error.code === StreamWrongLastSequenceUnknown;
		return isConflict
			? new StoreError("conflict", `${key}: changed by another gateway`, { cause: error })
			: new StoreError("not-written", `the cluster's store refuses ${key}: ${error.message}`, { cause: error });
	}
	// What NATS did not get, or no JetStream is there to get.
	const isRefused =
		error.cause instanceof errors.RequestError ||
		error instanceof errors.InvalidArgumentError ||
		error instanceof errors.ClosedConnectionError;
	return isRefused
		? new StoreError("not-written", `${UNREACHABLE}: ${error.message}`, { cause: error })
		: new StoreError("unknown", `the cluster's store does not answer: ${error.message}`, { cause: error });
}
