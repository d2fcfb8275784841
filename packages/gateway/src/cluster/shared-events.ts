import { randomUUID } from "node:crypto";
import type { EventLog, EventShare, LoggedEvent } from "../events/event-log.js";
import type { Bus } from "./bus.js";
import type { EventStream } from "./event-stream.js";
import { loggedEventSchema, readMessage, VERSION } from "./messages.js";

/** Events that wait until NATS is back; more are lost. */
const MAX_WAITING = 5_000;

/**
 * The events of a cluster: one stream of JetStream, in which each has the same place and id for every gateway. The gateway that
 * has a device writes its events.
 */
export class SharedEvents implements EventShare {
	readonly #log: EventLog;
	readonly #warn: (message: string) => void;
	readonly #waiting: { readonly text: string; readonly id: string }[] = [];
	#stream: EventStream | undefined;
	#publishing = false;
	#isFull = false;
	readonly #onStored: (problem: Error | undefined) => void;

	/** @param onStored called with each attempt to store an event, and the error if it failed */
	constructor(
		log: EventLog,
		warn: (message: string) => void,
		onStored: (problem: Error | undefined) => void = () => {},
	) {
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

	/** Follows the stream. Settles when the events that it has are known here. Rejects if the connection is lost meanwhile. */
	async enter(bus: Bus, connection: AbortSignal): Promise<void> {
		const stream = await bus.openEvents();
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
