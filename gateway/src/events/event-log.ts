import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
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

/** Events in each of the two files. The older one goes when the newer one is full. */
const FILE_EVENTS = 5_000;

/** Events that are kept. */
export const MAX_EVENTS = 2 * FILE_EVENTS;

/** Only this user can read it. */
const MODE = 0o600;

interface Changes {
	/** Events were stored, and can be read. */
	stored: [];
}

/**
 * The newest events, on disk: a process that is killed has lost none that was told. Holds 5,000 to 10,000 of them; older ones
 * are gone.
 */
export class EventLog extends EventEmitter<Changes> {
	readonly #folder: string | undefined;
	readonly #onSaved: (error: Error | undefined) => void;
	/** Names this log: another one, such as after the folder was lost, begins to count anew. */
	#epoch = newEpoch();
	/** Oldest first. */
	#events: LoggedEvent[] = [];
	#last = 0;
	/** The place of the newest event, whether or not it is stored. */
	#appended = 0;
	/** Not stored yet. */
	#waiting: LoggedEvent[] = [];
	#writing: Promise<void> | undefined;
	#file: FileHandle | undefined;
	/** Events in the newer file. */
	#inFile = 0;
	#closed = false;
	/** Undefined: this gateway is alone. */
	#share: EventShare | undefined;

	private constructor(folder: string | undefined, onSaved: (error: Error | undefined) => void) {
		super();
		// A listener for each subscription.
		this.setMaxListeners(0);
		this.#folder = folder;
		this.#onSaved = onSaved;
	}

	/**
	 * Opens a log, with the events that its folder has.
	 *
	 * @param folder undefined: events are kept in memory only
	 * @param onSaved called with each attempt to write, and the error if it failed. Events are told nevertheless
	 */
	static async open(
		folder: string | undefined,
		onSaved: (error: Error | undefined) => void = () => {},
	): Promise<EventLog> {
		const log = new EventLog(folder, onSaved);
		await log.#load();
		return log;
	}

	/** From now on, the events are those of a cluster. */
	share(share: EventShare): void {
		this.#share = share;
	}

	/** Whether other gateways may have given cursors of places that are not known here yet. */
	get isShared(): boolean {
		return this.#share !== undefined;
	}

	/** Another log begins, whose events have been lost before a place. */
	reset(epoch: string): void {
		this.#epoch = epoch;
		this.#events = [];
		this.#last = 0;
	}

	/** An event of the cluster, at its place. Those that are older than the window of the cluster may be missing. */
	received(seq: number, event: Omit<LoggedEvent, "seq" | "eventId">): void {
		if (seq > this.#last) {
			const isNext = seq === this.#last + 1;
			this.#keep([{ ...event, seq, eventId: this.#idOf(seq) }], isNext ? this.#events : []);
		}
	}

	/** Names the log in cursors. */
	get epoch(): string {
		return this.#epoch;
	}

	/** The place of the newest event that can be read; 0 in an empty log. */
	get last(): number {
		return this.#last;
	}

	/** The place before the oldest event that can be read. */
	get start(): number {
		return (this.#events[0]?.seq ?? this.#last + 1) - 1;
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
		if (this.#closed || this.#waiting.length >= FILE_EVENTS) {
			return;
		}
		this.#appended += 1;
		const seq = this.#appended;
		this.#waiting.push({ seq, eventId: this.#idOf(seq), timestamp, ...occurrence });
		this.#writing ??= this.#store().finally(() => {
			this.#writing = undefined;
		});
	}

	/** The events after a place, oldest first. */
	after(seq: number): readonly LoggedEvent[] {
		const from = Math.max(0, seq - this.start);
		return from === 0 ? this.#events : this.#events.slice(from);
	}

	/** Settles when there is an event after a place, or the signal says so. */
	async until(seq: number, signal: AbortSignal): Promise<void> {
		while (this.#last <= seq && !signal.aborted) {
			await once(this, "stored", { signal }).catch(() => {});
		}
	}

	/** Settles when everything is stored. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.#writing;
		await this.#file?.close();
		this.#file = undefined;
	}

	/** Events that come while a write is in progress share the next one. */
	async #store(): Promise<void> {
		while (this.#waiting.length > 0) {
			const batch = this.#waiting;
			this.#waiting = [];
			try {
				await this.#write(batch);
				this.#onSaved(undefined);
			} catch (error) {
				// After a restart, other events would have the ids of those that are only in memory.
				this.#epoch = newEpoch();
				this.#onSaved(error as Error);
			}
			this.#keep(batch, this.#events);
		}
	}

	#keep(batch: readonly LoggedEvent[], before: LoggedEvent[]): void {
		before.push(...batch);
		this.#events = before.length > MAX_EVENTS ? before.slice(-FILE_EVENTS) : before;
		this.#last = (batch.at(-1) as LoggedEvent).seq;
		this.emit("stored");
	}

	#idOf(seq: number): string {
		return `evt_${this.#epoch}_${seq}`;
	}

	async #write(batch: readonly LoggedEvent[]): Promise<void> {
		if (this.#folder === undefined) {
			return;
		}
		if (this.#inFile >= FILE_EVENTS) {
			await this.#file?.close();
			this.#file = undefined;
			await rename(this.#path("new"), this.#path("old"));
			this.#inFile = 0;
		}
		this.#file ??= await open(this.#path("new"), "a", MODE);
		// A write that the disk has cut short leaves a part of a line: the next one starts on a line of its own.
		await this.#file.appendFile(`\n${batch.map((event) => JSON.stringify(event)).join("\n")}\n`);
		this.#inFile += batch.length;
	}

	async #load(): Promise<void> {
		if (this.#folder === undefined) {
			return;
		}
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		this.#file = await open(this.#path("new"), "a", MODE);
		const [old, recent] = [await readEvents(this.#path("old")), await readEvents(this.#path("new"))];
		this.#inFile = recent.length;
		this.#events = [...old, ...recent];
		const newest = this.#events.at(-1);
		if (newest !== undefined) {
			this.#last = newest.seq;
			this.#appended = newest.seq;
			this.#epoch = newest.eventId.split("_")[1] as string;
			// What was lost between two events counts as older than the log.
			const start = this.#events.reduce(
				(from, { seq }, at) => (seq === (this.#events[at - 1]?.seq ?? 0) + 1 ? from : at),
				0,
			);
			this.#events = this.#events.slice(start);
		}
	}

	#path(name: "old" | "new"): string {
		return join(this.#folder as string, `${name}.jsonl`);
	}
}

function newEpoch(): string {
	return randomBytes(6).toString("hex");
}

/** The events in a file; none if it does not exist. A line that is not whole is left out. */
async function readEvents(path: string): Promise<LoggedEvent[]> {
	const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") {
			return "";
		}
		throw error;
	});
	return text.split("\n").flatMap((line) => {
		try {
			const event = JSON.parse(line) as LoggedEvent;
			return Number.isSafeInteger(event.seq) && /^evt_[0-9a-f]+_/.test(event.eventId) ? [event] : [];
		} catch {
			return [];
		}
	});
}
