import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdir } from "node:fs/promises";
import { type JsonLines, openJsonLines } from "../history/json-lines.js";
import type { GatewayOccurrence } from "./event-types.js";

/** An event in the log. */
export interface LoggedEvent extends GatewayOccurrence {
	/** Its place in the log: one more than that of the event before. */
	readonly seq: number;
	/** The same wherever and however often it is delivered. */
	readonly eventId: string;
	/** When it happened: ISO 8601. */
	readonly timestamp: string;
}

/** Keeps the events of a cluster: it gives them their places. */
export interface EventShare {
	/**
	 * Stores an event. It comes back to every gateway by {@link EventLog.received}.
	 *
	 * @param id the same for an event that several gateways report
	 */
	publish(event: Omit<LoggedEvent, "seq" | "eventId">, id: string | undefined): void;
}

/** Events that can be read. Half of them go when there are more. */
export const MAX_EVENTS = 10_000;

/** Maximum size of both files, in bytes. */
const MAX_BYTES = 16_777_216;

interface Changes {
	/** Events were stored, and can be read. */
	stored: [];
}

/** The newest events, on disk: a killed process loses none that was delivered. */
export class EventLog extends EventEmitter<Changes> {
	/** Undefined: events are kept in memory only. */
	#lines: JsonLines | undefined;
	/** Names this log in cursors: another one, such as after the folder was lost, starts to count again. */
	epoch = newEpoch();
	#events: LoggedEvent[] = [];
	/** The place of the newest event that can be read; 0 in an empty log. */
	last = 0;
	/** The place of the newest event, whether or not it is stored. */
	#appended = 0;
	/** Undefined: this gateway is alone. */
	#share: EventShare | undefined;

	/**
	 * Opens a log, with the events that its folder has.
	 *
	 * @param folder undefined: events are kept in memory only
	 * @param onSaved called with each attempt to write, and the error if it failed. Events are delivered nevertheless
	 */
	static async open(
		folder: string | undefined,
		onSaved: (error: Error | undefined) => void = () => {},
	): Promise<EventLog> {
		const log = new EventLog();
		// A listener for each subscription.
		log.setMaxListeners(0);
		if (folder !== undefined) {
			await mkdir(folder, { recursive: true, mode: 0o700 });
			const keep = (error: Error | undefined, events: readonly object[]): void => {
				onSaved(error);
				// Events that waited for the disk while the gateway joined a cluster have no place in its log.
				if (log.#share === undefined) {
					// After a restart, new events would get the ids of events that are only in memory.
					log.epoch = error === undefined ? log.epoch : newEpoch();
					log.#keep(events as readonly LoggedEvent[], log.#events);
				}
			};
			log.#lines = openJsonLines(`${folder}/`, MAX_BYTES, keep, 0);
			const found: LoggedEvent[] = [];
			for await (const line of log.#lines.read()) {
				const event = line as unknown as LoggedEvent;
				if (Number.isSafeInteger(event.seq) && /^evt_[0-9a-f]+_/.test(event.eventId)) {
					// After a gap, everything before it counts as older than the log.
					found.length = event.seq === (found.at(-1)?.seq ?? 0) + 1 ? found.length : 0;
					found.push(event);
				}
			}
			const newest = found.at(-1);
			if (newest !== undefined) {
				log.#events = found.slice(-MAX_EVENTS);
				log.last = newest.seq;
				log.#appended = newest.seq;
				log.epoch = newest.eventId.split("_")[1] as string;
			}
		}
		return log;
	}

	/**
	 * From now on, the events are those of a cluster.
	 *
	 * @param epoch names the cluster's log. If it is another one than before, the events until now are not in it
	 */
	share(share: EventShare, epoch: string): void {
		this.#share = share;
		if (epoch !== this.epoch) {
			this.epoch = epoch;
			this.#events = [];
			this.last = 0;
		}
	}

	/** Whether other gateways may have given cursors of places that are not known here yet. */
	get isShared(): boolean {
		return this.#share !== undefined;
	}

	/** An event of the cluster, at its place. Those that are older than the window of the cluster may be missing. */
	received(seq: number, event: Omit<LoggedEvent, "seq" | "eventId">): void {
		if (seq > this.last) {
			const isNext = seq === this.last + 1;
			this.#keep([{ ...event, seq, eventId: this.#idOf(seq) }], isNext ? this.#events : []);
		}
	}

	/** The place before the oldest event that can be read. */
	get start(): number {
		return (this.#events[0]?.seq ?? this.last + 1) - 1;
	}

	/**
	 * Adds an event. It can be read once it is stored. Nothing is added after {@link close}, or while 5,000 wait for the disk.
	 *
	 * @param id the same for an event that several gateways of a cluster report
	 */
	append(occurrence: GatewayOccurrence, id?: string): void {
		const timestamp = new Date().toISOString();
		if (this.#share !== undefined) {
			this.#share.publish({ timestamp, ...occurrence }, id);
			return;
		}
		const seq = this.#appended + 1;
		const event = { seq, eventId: this.#idOf(seq), timestamp, ...occurrence };
		if (this.#lines === undefined) {
			this.#keep([event], this.#events);
		} else if (!this.#lines.append(event)) {
			return;
		}
		this.#appended = seq;
	}

	/** The events after a place, oldest first. */
	after(seq: number): readonly LoggedEvent[] {
		const from = Math.max(0, seq - this.start);
		return from === 0 ? this.#events : this.#events.slice(from);
	}

	/** Settles when there is an event after a place, or the signal says so. */
	async until(seq: number, signal: AbortSignal): Promise<void> {
		while (this.last <= seq && !signal.aborted) {
			await once(this, "stored", { signal }).catch(() => {});
		}
	}

	async close(): Promise<void> {
		await this.#lines?.close();
	}

	#keep(batch: readonly LoggedEvent[], before: LoggedEvent[]): void {
		before.push(...batch);
		this.#events = before.length > MAX_EVENTS ? before.slice(-MAX_EVENTS / 2) : before;
		this.last = (batch.at(-1) as LoggedEvent).seq;
		this.emit("stored");
	}

	#idOf(seq: number): string {
		return `evt_${this.epoch}_${seq}`;
	}
}

function newEpoch(): string {
	return randomBytes(6).toString("hex");
}
