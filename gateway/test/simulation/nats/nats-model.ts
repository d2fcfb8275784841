import { Consumer, type ConsumerConfig, type Delivery } from "./consumer.js";
import { type ClientFrame, FrameReader, messageFrame, type Published, statusHeaders } from "./frames.js";
import { ApiError, isRollup, Stream, type StreamConfig } from "./stream.js";
import { Subscriptions } from "./subscriptions.js";

/** The version that the model follows: see nats-model.test.ts. */
const VERSION = "2.9.10";

const MAX_PAYLOAD = 1024 * 1024;

const EMPTY = Buffer.alloc(0);

const API = "$JS.API.";

/** A client's connection, as the model writes to it. */
export interface Wire {
	readonly write: (bytes: Buffer) => void;
}

interface Client {
	readonly wire: Wire;
	readonly reader: FrameReader;
	readonly subscriptions: Subscriptions;
	hasHeaders: boolean;
}

/** A connection to the model. */
export interface ModelConnection {
	/** Bytes of the client have arrived. */
	readonly received: (bytes: Uint8Array) => void;
	/** The connection has ended. */
	readonly ended: () => void;
}

/**
 * A NATS server with JetStream, as far as the gateways use one: the client protocol, streams, consumers without
 * acknowledgements. It has no clock, timer or socket of its own. nats-model.test.ts compares it with nats-server.
 */
export class NatsModel {
	readonly #now: () => number;
	readonly #clients = new Set<Client>();
	readonly #streams = new Map<string, { stream: Stream; readonly consumers: Map<string, Consumer> }>();
	readonly #delivery: Delivery;

	/** @param now milliseconds since 1970 */
	constructor(now: () => number) {
		this.#now = now;
		this.#delivery = {
			now,
			hasReceiver: (subject) => this.#hasReceiver(subject),
			send: (to, message) => void this.#send(to, message),
		};
	}

	/** A client has connected. */
	connect(wire: Wire): ModelConnection {
		const client: Client = { wire, reader: new FrameReader(), subscriptions: new Subscriptions(), hasHeaders: false };
		this.#clients.add(client);
		const info = { server_id: "MODEL", version: VERSION, proto: 1, headers: true, max_payload: MAX_PAYLOAD };
		wire.write(Buffer.from(`INFO ${JSON.stringify({ ...info, jetstream: true })}\r\n`));
		return {
			received: (bytes) => {
				for (const frame of client.reader.read(bytes)) {
					this.#received(client, frame);
				}
			},
			ended: () => void this.#clients.delete(client),
		};
	}

	/** How many subscriptions each client has. */
	get subscriptions(): number[] {
		return [...this.#clients].map(({ subscriptions }) => subscriptions.size);
	}

	/** The newest message of each subject of a stream. */
	newest(stream: string): { readonly subject: string; readonly text: string }[] {
		const newest = this.#streams.get(stream)?.stream.newest ?? [];
		return newest.map(({ subject, data }) => ({ subject, text: data.toString() }));
	}

	/** The server starts again: streams in memory are gone, and so are consumers, which were in memory. */
	restart(): void {
		for (const [name, { stream, consumers }] of this.#streams) {
			consumers.clear();
			if (stream.config.storage === "memory") {
				this.#streams.delete(name);
			}
		}
	}

	/** The server has lost its disk. */
	loseEverything(): void {
		this.#streams.clear();
	}

	/** To be called again and again, a few times a second. */
	tick(): void {
		for (const { consumers } of this.#streams.values()) {
			for (const [name, consumer] of consumers) {
				if (consumer.isAbandoned) {
					consumers.delete(name);
				} else {
					consumer.tick();
				}
			}
		}
	}

	#received(client: Client, frame: ClientFrame): void {
		switch (frame.kind) {
			case "connect":
				client.hasHeaders = frame.options.headers === true && frame.options.no_responders === true;
				return;
			case "ping":
				client.wire.write(Buffer.from("PONG\r\n"));
				return;
			case "pong":
				return;
			case "sub":
				client.subscriptions.add(frame.sid, frame.subject);
				this.#deliverTo(frame.subject);
				return;
			case "unsub":
				client.subscriptions.end(frame.sid, frame.max);
				return;
			case "pub":
				this.#published(client, frame);
		}
	}

	#published(client: Client, message: Published): void {
		if (message.subject.startsWith(API)) {
			this.#api(client, message);
			return;
		}
		const sent = this.#send(message.subject, message);
		const holder = [...this.#streams.values()].find(({ stream }) => stream.captures(message.subject));
		if (holder !== undefined) {
			this.#store(holder.stream, message);
			for (const consumer of holder.consumers.values()) {
				if (isRollup(message)) {
					consumer.skip();
				}
				consumer.deliver();
			}
		} else if (sent === 0 && message.reply !== "" && client.hasHeaders) {
			this.#noResponders(client, message.reply);
		}
	}

	#noResponders(client: Client, reply: string): void {
		const message = { subject: reply, reply: "", headers: statusHeaders("503"), data: EMPTY };
		for (const sid of client.subscriptions.to(reply)) {
			this.#write(client, sid, message);
		}
	}

	#store(stream: Stream, message: Published): void {
		const { name } = stream.config;
		let answer: object;
		try {
			const { message: stored, seq } = stream.store(message);
			answer = { stream: name, seq, ...(stored === undefined && { duplicate: true }) };
		} catch (error) {
			answer = { ...failure(error), stream: name, seq: 0 };
		}
		this.#answer(message.reply, answer);
	}

	#hasReceiver(subject: string): boolean {
		for (const { subscriptions } of this.#clients) {
			if (subscriptions.has(subject)) {
				return true;
			}
		}
		return false;
	}

	/** Returns how many subscriptions got it. */
	#send(to: string, message: Published): number {
		let count = 0;
		for (const client of this.#clients) {
			for (const sid of client.subscriptions.to(to)) {
				this.#write(client, sid, message);
				count += 1;
			}
		}
		return count;
	}

	#write(client: Client, sid: string, message: Published): void {
		client.subscriptions.used(sid);
		client.wire.write(messageFrame(sid, message));
	}

	#answer(reply: string, answer: object): void {
		if (reply !== "") {
			this.#send(reply, { subject: reply, reply: "", headers: EMPTY, data: Buffer.from(JSON.stringify(answer)) });
		}
	}

	/** Whether a subject has a subscriber. */
	#deliverTo(subject: string): void {
		for (const { consumers } of this.#streams.values()) {
			for (const consumer of consumers.values()) {
				if (consumer.config.deliver_subject === subject) {
					consumer.deliver();
				}
			}
		}
	}

	#api(client: Client, { subject, reply, data }: Published): void {
		const [kind = "", verb = "", ...rest] = subject.slice(API.length).split(".");
		if (kind === "CONSUMER" && verb === "MSG") {
			const [, streamName = "", name = ""] = rest;
			const consumer = this.#streams.get(streamName)?.consumers.get(name);
			if (consumer === undefined) {
				this.#noResponders(client, reply);
			} else {
				consumer.pull(reply, JSON.parse(data.toString()));
			}
			return;
		}
		let answer: object;
		try {
			answer = this.#apiAnswer(`${kind}.${verb}`, rest, data.length === 0 ? {} : JSON.parse(data.toString()));
		} catch (error) {
			answer = failure(error);
		}
		this.#answer(reply, answer);
	}

	#apiAnswer(request: string, names: readonly string[], body: Record<string, unknown>): object {
		const [first = "", second = ""] = names;
		switch (request) {
			case "INFO.":
				return { memory: 0, storage: 0, streams: this.#streams.size, consumers: 0, limits: {}, api: {} };
			case "STREAM.CREATE":
				return this.#createStream(body as unknown as StreamConfig);
			case "STREAM.INFO":
				return this.#streamInfo(first);
			case "STREAM.DELETE":
				this.#streamOf(first);
				this.#streams.delete(first);
				return { success: true };
			case "STREAM.MSG":
				return this.#message(second, body);
			case "CONSUMER.CREATE":
				return this.#createConsumer(first, body.config as ConsumerConfig);
			case "CONSUMER.INFO":
				return this.#consumerOf(first, second).info;
			case "CONSUMER.DELETE":
				this.#consumerOf(first, second);
				this.#streamOf(first).consumers.delete(second);
				return { success: true };
			default:
				throw new Error(`the model has no ${request}`);
		}
	}

	#createStream(config: StreamConfig): object {
		const known = this.#streams.get(config.name);
		if (known !== undefined && JSON.stringify(known.stream.config) !== JSON.stringify(config)) {
			throw new ApiError(400, 10_058, "stream name already in use with a different configuration");
		}
		if (known === undefined) {
			this.#streams.set(config.name, { stream: new Stream(config, this.#now), consumers: new Map() });
		}
		return this.#streamInfo(config.name);
	}

	#streamOf(name: string) {
		const found = this.#streams.get(name);
		if (found === undefined) {
			throw new ApiError(404, 10_059, "stream not found");
		}
		return found;
	}

	#streamInfo(name: string): object {
		const { stream } = this.#streamOf(name);
		const { config, created, state } = stream;
		return { config, created: new Date(created).toISOString(), state };
	}

	#message(name: string, { last_by_subj: subject, seq }: Record<string, unknown>): object {
		const { stream } = this.#streamOf(name);
		const found = subject === undefined ? stream.get(Number(seq)) : stream.newestOf(String(subject));
		if (found === undefined) {
			throw new ApiError(404, 10_037, "no message found");
		}
		const { headers, data, time, ...rest } = found;
		const hdrs = headers.length > 0 && { hdrs: headers.toString("base64") };
		const message = { ...rest, ...hdrs, data: data.toString("base64"), time: new Date(time).toISOString() };
		return { message };
	}

	#createConsumer(name: string, config: ConsumerConfig): object {
		const { stream, consumers } = this.#streamOf(name);
		const consumer = consumers.get(config.name) ?? new Consumer(config, stream, this.#delivery);
		consumers.set(config.name, consumer);
		const { info } = consumer;
		consumer.deliver();
		return info;
	}

	#consumerOf(name: string, consumer: string): Consumer {
		const found = this.#streamOf(name).consumers.get(consumer);
		if (found === undefined) {
			throw new ApiError(404, 10_014, "consumer not found");
		}
		return found;
	}
}

function failure(error: unknown): object {
	if (error instanceof ApiError) {
		return { error: { code: error.code, err_code: error.errCode, description: error.message } };
	}
	throw error;
}
