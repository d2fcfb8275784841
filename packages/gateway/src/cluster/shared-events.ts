import { randomUUID } from "node:crypto";
import { addAbortListener } from "node:events";
import { DeliverPolicy, JetStreamApiError, jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { type EventLog, type EventShare, type LoggedEvent, MAX_EVENTS } from "../events/event-log.js";
import { loggedEventSchema, readMessage, subjectsOf, VERSION } from "./messages.js";

/** The newest events of the cluster. */
type EventStream = Awaited<ReturnType<typeof openEventStream>>;

/** Milliseconds in which an event that several gateways report is stored once. */
const SAME_EVENT_TIME = 120_000;

/** Milliseconds for NATS to store an event. */
const STORE_TIME = 5_000;

/** Events that wait until NATS is back; more are lost. */
const MAX_WAITING = 5_000;

/**
 * Creates the stream of events, or opens it. Rejects if NATS does not answer.
 *
 * @param replicas servers that keep a copy
 */
export async function openEventStream(connection: NatsConnection, prefix: string, replicas: number) {
	const name = `${prefix}_events`;
	const subject = subjectsOf(prefix).log;
	const manager = await jetstreamManager(connection);
	const config = {
		name,
		subjects: [subject],
		storage: StorageType.File,
		num_replicas: replicas,
		max_msgs: MAX_EVENTS,
		duplicate_window: nanos(SAME_EVENT_TIME),
	};
	const { created, state } = await manager.streams.add(config).catch(async (error: unknown) => {
		if (error instanceof JetStreamApiError) {
			// Another version of the program has created it in its own way.
			return await manager.streams.info(name);
		}
		throw error;
	});
	const client = jetstream(connection);
	return {
		/** Twelve hexadecimal digits that name this stream: another one counts from the beginning. */
		epoch: Date.parse(created).toString(16).padStart(12, "0").slice(-12),
		/** Stores an event, unless one with the same id was stored within two minutes. Rejects if NATS does not answer. */
		store: async (text: string, msgID: string): Promise<void> => {
			await client.publish(subject, text, { timeout: STORE_TIME, msgID });
		},
		/** Reads from a place on. Settles when all events that were stored before are read, or when the connection is lost. */
		follow: async (from: number, onEvent: (seq: number, bytes: Uint8Array) => void, connected: AbortSignal) => {
			const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(from, 1) };
			const consumer = await client.consumers.get(name, start);
			const messages = await consumer.consume();
			addAbortListener(connected, () => void messages.close());
			await new Promise<void>((resolve, reject) => {
				const read = async (): Promise<void> => {
					for await (const { seq, data } of messages) {
						onEvent(seq, data);
						if (seq >= state.last_seq) {
							resolve();
						}
					}
					resolve();
				};
				if (state.last_seq < from) {
					resolve();
				}
				read().catch(reject);
			});
		},
	};
}

/**
 * The events of a cluster: one stream of JetStream, in which each has the same place and id for every gateway. The gateway that
 * has a device writes its events.
 */
export class SharedEvents implements EventShare {
	readonly #log: EventLog;
	readonly #warn: (message: string) => void;
	readonly #onStored: (problem: Error | undefined) => void;
	readonly #waiting: { readonly text: string; readonly id: string }[] = [];
	#stream: EventStream | undefined;
	#publishing = false;
	#isFull = false;

	/** @param onStored called with each attempt to store an event, and the error if it failed */
	constructor(log: EventLog, warn: (message: string) => void, onStored: (problem: Error | undefined) => void) {
		this.#log = log;
		this.#warn = warn;
		this.#onStored = onStored;
		// NATS may be lost before its stream is read the first time: until then, events wait for their place in it.
		log.share(this, log.epoch);
	}

	publish(event: Omit<LoggedEvent, "seq" | "eventId">, id: string | undefined): void {
		if (this.#waiting.length >= MAX_WAITING) {
			if (!this.#isFull) {
				this.#warn(`cluster: events are lost: more than ${MAX_WAITING} wait for NATS`);
			}
			this.#isFull = true;
			return;
		}
		// NATS may store it and not confirm that: then it is sent again.
		this.#waiting.push({ text: JSON.stringify({ v: VERSION, ...event }), id: id ?? randomUUID() });
		void this.flush();
	}

	/** Follows a stream. Settles when the events that it has are known here. Rejects if the connection is lost meanwhile. */
	async enter(opening: Promise<EventStream>, connection: AbortSignal): Promise<void> {
		const stream = await opening;
		connection.throwIfAborted();
		this.#log.share(this, stream.epoch);
		const onEvent = (seq: number, bytes: Uint8Array): void => {
			const event = readMessage(loggedEventSchema, bytes);
			// Its place is taken also if it cannot be read.
			this.#log.received(seq, event ?? { name: "", device: "", data: {}, timestamp: "" });
		};
		await stream.follow(this.#log.last + 1, onEvent, connection);
		connection.throwIfAborted();
		this.#stream = stream;
		await this.flush();
	}

	/** NATS is disconnected. */
	leave(): void {
		this.#stream = undefined;
	}

	/** Stores what waits, in its order. Never rejects: what could not be stored is tried again. */
	async flush(): Promise<void> {
		if (this.#publishing) {
			return;
		}
		this.#publishing = true;
		try {
			for (let next = this.#waiting[0]; next !== undefined && this.#stream !== undefined; next = this.#waiting[0]) {
				await this.#stream.store(next.text, next.id);
				this.#waiting.shift();
				this.#isFull = false;
				this.#onStored(undefined);
			}
		} catch (error) {
			this.#onStored(new Error(`cluster: events are not stored: ${(error as Error).message}`, { cause: error }));
		} finally {
			this.#publishing = false;
		}
	}
}
