import { fieldsOf, type Published, subjectMatches } from "./frames.js";

/** The settings of a stream, as far as the model follows them. Times are in nanoseconds. */
export interface StreamConfig {
	readonly name: string;
	readonly subjects: readonly string[];
	readonly storage: "file" | "memory";
	readonly max_msgs?: number;
	readonly max_msgs_per_subject?: number;
	readonly max_age?: number;
	readonly duplicate_window?: number;
}

/** A message in a stream. */
export interface Stored {
	readonly seq: number;
	readonly subject: string;
	readonly headers: Buffer;
	readonly data: Buffer;
	/** Milliseconds since 1970. */
	readonly time: number;
}

/** An error of JetStream's API. */
export class ApiError extends Error {
	readonly code: number;
	readonly errCode: number;

	constructor(code: number, errCode: number, description: string) {
		super(description);
		this.code = code;
		this.errCode = errCode;
	}
}

const NANOSECONDS = 1_000_000;

/** JetStream's default. */
const DUPLICATE_WINDOW = 120_000 * NANOSECONDS;

/** A stream of JetStream: messages in their order, limited by number, age and subject. */
export class Stream {
	readonly config: StreamConfig;
	readonly created: number;
	readonly #now: () => number;
	/** By sequence number, in this order. */
	readonly #messages = new Map<number, Stored>();
	/** The newest of each subject. */
	readonly #newest = new Map<string, number>();
	/** Sequence numbers and times by `Nats-Msg-Id`. */
	readonly #ids = new Map<string, { readonly seq: number; readonly time: number }>();
	lastSeq = 0;

	constructor(config: StreamConfig, now: () => number) {
		this.config = config;
		this.#now = now;
		this.created = now();
	}

	get messages(): Iterable<Stored> {
		this.#expire();
		return this.#messages.values();
	}

	get size(): number {
		this.#expire();
		return this.#messages.size;
	}

	get state(): object {
		this.#expire();
		const bytes = [...this.#messages.values()].reduce((sum, { data }) => sum + data.length, 0);
		const [first] = this.#messages.keys();
		return { messages: this.#messages.size, bytes, first_seq: first ?? this.lastSeq + 1, last_seq: this.lastSeq };
	}

	captures(subject: string): boolean {
		return this.config.subjects.some((pattern) => subjectMatches(pattern, subject));
	}

	/**
	 * Stores a message.
	 *
	 * @throws ApiError if its subject's newest message is not the one that it expects
	 */
	store({ subject, headers, data }: Published): { readonly message: Stored | undefined; readonly seq: number } {
		this.#expire();
		const fields = headers.length === 0 ? undefined : fieldsOf(headers);
		const time = this.#now();
		const id = fields?.get("Nats-Msg-Id");
		const known = id === undefined ? undefined : this.#ids.get(id);
		if (known !== undefined) {
			return { message: undefined, seq: known.seq };
		}
		const expected = fields?.get("Nats-Expected-Last-Subject-Sequence");
		const newest = this.#newest.get(subject) ?? 0;
		if (expected !== undefined && Number(expected) !== newest) {
			throw new ApiError(400, 10_071, `wrong last sequence: ${newest}`);
		}
		this.lastSeq += 1;
		const message: Stored = { seq: this.lastSeq, subject, headers, data, time };
		this.#messages.set(message.seq, message);
		const { max_msgs_per_subject: ofSubject = -1, max_msgs: all = -1 } = this.config;
		if (ofSubject === 1 || isRollup({ headers })) {
			this.#messages.delete(newest);
		}
		this.#newest.set(subject, message.seq);
		if (id !== undefined) {
			this.#ids.set(id, { seq: message.seq, time });
		}
		for (const seq of this.#messages.keys()) {
			if (all < 0 || this.#messages.size <= all) {
				break;
			}
			this.#remove(seq);
		}
		return { message, seq: message.seq };
	}

	get(seq: number): Stored | undefined {
		this.#expire();
		return this.#messages.get(seq);
	}

	newestOf(subject: string): Stored | undefined {
		this.#expire();
		return this.#messages.get(this.#newest.get(subject) ?? 0);
	}

	/** The newest message of each subject, in their order. */
	get newest(): Stored[] {
		this.#expire();
		return [...this.#messages.values()].filter(({ subject, seq }) => this.#newest.get(subject) === seq);
	}

	#expire(): void {
		const { max_age: age = 0, duplicate_window: window = DUPLICATE_WINDOW } = this.config;
		const now = this.#now();
		for (const { seq, time } of this.#messages.values()) {
			if (age === 0 || now - time < age / NANOSECONDS) {
				break;
			}
			this.#remove(seq);
		}
		for (const [id, { time }] of this.#ids) {
			if (now - time < window / NANOSECONDS) {
				break;
			}
			this.#ids.delete(id);
		}
	}

	#remove(seq: number): void {
		const message = this.#messages.get(seq);
		if (message !== undefined) {
			this.#messages.delete(seq);
			if (this.#newest.get(message.subject) === seq) {
				this.#newest.delete(message.subject);
			}
		}
	}
}

/** Whether a message replaces all others of its subject: a purge of a bucket's key. */
export function isRollup({ headers }: Pick<Published, "headers">): boolean {
	return headers.length > 0 && fieldsOf(headers).get("Nats-Rollup") === "sub";
}
