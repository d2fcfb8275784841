import { statusHeaders, subjectMatches } from "./frames.js";
import type { Stored, Stream } from "./stream.js";

/** The settings of a consumer, as far as the model follows them. Times are in nanoseconds. */
export interface ConsumerConfig {
	readonly name: string;
	readonly deliver_policy: "all" | "last_per_subject" | "new" | "by_start_sequence";
	readonly opt_start_seq?: number;
	readonly deliver_subject?: string;
	readonly filter_subject?: string;
	readonly headers_only?: boolean;
	readonly idle_heartbeat?: number;
	readonly inactive_threshold?: number;
}

/** A request for messages of a pull consumer. */
interface Pull {
	readonly reply: string;
	left: number;
	/** Milliseconds since 1970. */
	readonly expires: number;
	readonly heartbeat: number;
}

/** How a consumer reaches clients. */
export interface Delivery {
	readonly now: () => number;
	/** Whether a connected client subscribes to a subject. */
	readonly hasReceiver: (subject: string) => boolean;
	/** Sends a message to the subscribers of `to`. */
	readonly send: (to: string, message: { subject: string; reply: string; headers: Buffer; data: Buffer }) => void;
}

const NANOSECONDS = 1_000_000;

const EMPTY = Buffer.alloc(0);

/** A consumer without acknowledgements: it delivers each message once, while a client listens. */
export class Consumer {
	readonly config: ConsumerConfig;
	readonly created: number;
	readonly #stream: Stream;
	readonly #delivery: Delivery;
	/** Messages of before the consumer that are still to be delivered; then those from `#next` on. */
	readonly #first: number[] = [];
	#next: number;
	#delivered = 0;
	#lastSeq = 0;
	readonly #pulls: Pull[] = [];
	/** When something was sent last, ms since 1970. */
	#sent: number;
	/** Start of the inactivity, ms since 1970. */
	#idleFrom: number;

	constructor(config: ConsumerConfig, stream: Stream, delivery: Delivery) {
		this.config = config;
		this.#stream = stream;
		this.#delivery = delivery;
		this.created = delivery.now();
		this.#sent = this.created;
		this.#idleFrom = this.created;
		this.#next = stream.lastSeq + 1;
		if (config.deliver_policy === "all") {
			this.#next = 1;
		} else if (config.deliver_policy === "by_start_sequence") {
			this.#next = Math.max(config.opt_start_seq ?? 1, 1);
		} else if (config.deliver_policy === "last_per_subject") {
			this.#first.push(...stream.newest.filter((each) => this.#wants(each)).map(({ seq }) => seq));
		}
	}

	get info(): object {
		const { name } = this.config;
		const delivered = { consumer_seq: this.#delivered, stream_seq: this.#lastSeq };
		return {
			stream_name: this.#stream.config.name,
			name,
			created: new Date(this.created).toISOString(),
			config: { max_waiting: 512, ...this.config },
			delivered,
			ack_floor: { consumer_seq: 0, stream_seq: 0 },
			num_ack_pending: 0,
			num_redelivered: 0,
			num_waiting: this.#pulls.length,
			num_pending: this.#pending,
		};
	}

	/** Whether the consumer was inactive for so long that JetStream removes it. */
	get isAbandoned(): boolean {
		const { inactive_threshold: threshold = 5_000 * NANOSECONDS } = this.config;
		if (this.#isListenedTo) {
			this.#idleFrom = this.#delivery.now();
		}
		return this.#delivery.now() - this.#idleFrom >= threshold / NANOSECONDS;
	}

	pull(reply: string, { batch = 1, expires = 0, idle_heartbeat: heartbeat = 0 }: Record<string, number>): void {
		this.#pulls.push({
			reply,
			left: batch,
			expires: this.#delivery.now() + expires / NANOSECONDS,
			heartbeat: heartbeat / NANOSECONDS,
		});
		this.deliver();
	}

	/** The stream's newest message is a purge: nats-server 2.9 may skip what it has not delivered yet. */
	skip(): void {
		this.#next = Math.max(this.#next, this.#stream.lastSeq);
	}

	/** Delivers pending messages while there is interest. */
	deliver(): void {
		for (let to = this.#receiver; to !== undefined; to = this.#receiver) {
			const message = this.#take();
			if (message === undefined) {
				return;
			}
			this.#deliver(to, message);
		}
	}

	/** To be called again and again: sends heartbeats, and ends requests that have expired. */
	tick(): void {
		const now = this.#delivery.now();
		for (const pull of [...this.#pulls]) {
			if (pull.expires <= now) {
				this.#pulls.splice(this.#pulls.indexOf(pull), 1);
				const fields = { "Nats-Pending-Messages": pull.left, "Nats-Pending-Bytes": 0 };
				this.#status(pull.reply, "408 Request Timeout", fields);
			}
		}
		const { deliver_subject: subject, idle_heartbeat: interval = 0 } = this.config;
		const heartbeat = subject === undefined ? (this.#pulls[0]?.heartbeat ?? 0) : interval / NANOSECONDS;
		const to = subject ?? this.#pulls[0]?.reply;
		if (to !== undefined && heartbeat > 0 && now - this.#sent >= heartbeat && this.#delivery.hasReceiver(to)) {
			this.#sent = now;
			const fields = { "Nats-Last-Consumer": this.#delivered, "Nats-Last-Stream": this.#lastSeq };
			this.#status(to, "100 Idle Heartbeat", fields);
		}
	}

	get #isListenedTo(): boolean {
		const { deliver_subject: subject } = this.config;
		return subject === undefined ? this.#pulls.length > 0 : this.#delivery.hasReceiver(subject);
	}

	/** The subject that takes the next message. */
	get #receiver(): string | undefined {
		const { deliver_subject: subject } = this.config;
		if (subject !== undefined) {
			return this.#delivery.hasReceiver(subject) ? subject : undefined;
		}
		while (this.#pulls[0] !== undefined && !this.#delivery.hasReceiver(this.#pulls[0].reply)) {
			this.#pulls.shift();
		}
		return this.#pulls[0]?.reply;
	}

	get #pending(): number {
		const first = this.#first.filter((seq) => this.#stream.get(seq) !== undefined).length;
		let later = 0;
		if (this.#next <= this.#stream.lastSeq) {
			for (const message of this.#stream.messages) {
				later += message.seq >= this.#next && this.#wants(message) ? 1 : 0;
			}
		}
		return first + later;
	}

	#wants({ subject }: Stored): boolean {
		const { filter_subject: filter } = this.config;
		return filter === undefined || subjectMatches(filter, subject);
	}

	#take(): Stored | undefined {
		for (let seq = this.#first.shift(); seq !== undefined; seq = this.#first.shift()) {
			const message = this.#stream.get(seq);
			if (message !== undefined) {
				return message;
			}
		}
		while (this.#next <= this.#stream.lastSeq) {
			const message = this.#stream.get(this.#next);
			this.#next += 1;
			if (message !== undefined && this.#wants(message)) {
				return message;
			}
		}
		return undefined;
	}

	#deliver(to: string, { seq, subject, headers, data, time }: Stored): void {
		this.#delivered += 1;
		this.#lastSeq = seq;
		this.#sent = this.#delivery.now();
		const { name, headers_only: isWithout } = this.config;
		const stamp = BigInt(time) * 1_000_000n;
		const place = `1.${seq}.${this.#delivered}.${stamp}.${this.#pending}`;
		const reply = `$JS.ACK.${this.#stream.config.name}.${name}.${place}`;
		const sized = isWithout ? withSize(headers, data.length) : headers;
		this.#delivery.send(to, { subject, reply, headers: sized, data: isWithout ? EMPTY : data });
		const [pull] = this.#pulls;
		if (pull !== undefined) {
			pull.left -= 1;
			if (pull.left <= 0) {
				this.#pulls.shift();
			}
		}
	}

	#status(to: string, status: string, fields: Readonly<Record<string, string | number>>): void {
		this.#delivery.send(to, { subject: to, reply: "", headers: statusHeaders(status, fields), data: EMPTY });
	}
}

function withSize(headers: Buffer, size: number): Buffer {
	const field = `Nats-Msg-Size: ${size}\r\n\r\n`;
	return headers.length === 0
		? Buffer.from(`NATS/1.0\r\n${field}`)
		: Buffer.concat([headers.subarray(0, headers.length - 2), Buffer.from(field)]);
}
