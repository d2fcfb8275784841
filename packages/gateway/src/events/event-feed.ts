import type { EventLog, LoggedEvent } from "./event-log.js";
import { LOST } from "./event-types.js";

/** The query of one subscription, and its rights. */
export interface EventQuery {
	/**
	 * Returns whether the subscription asks for an event, and the subscriber may see it now. {@link LOST} matches if the
	 * lost events may have been such ones.
	 */
	readonly matches: (event: LoggedEvent) => boolean;
	/** Seconds: at most one event of each device in each span of this length. */
	readonly pause?: number | undefined;
	/** Called once the subscription has ended. */
	onClose?: () => void;
}

/** The events that a client asks for. */
export interface EventRequest {
	/** The name of their type. */
	readonly name: string;
	readonly arguments?: Readonly<Record<string, unknown>> | undefined;
	/** A cursor of {@link EventFeed.cursor}. Default: from now on. */
	readonly cursor?: string | null | undefined;
	/** Milliseconds: older events are skipped. */
	readonly maxAgeMs?: number | undefined;
}

/** Events that one look at the log returns at most. */
export const MAX_BATCH = 100;

/** Epoch, position, and the position at which a subscription with `pause` began. */
const CURSOR = /^([0-9a-f]{12})\.(\d{1,15})(?:\.(\d{1,15}))?$/;

/** The events of the log that one subscription gets, from a place on. */
export class EventFeed {
	readonly #log: EventLog;
	readonly #query: EventQuery;
	#position: number;
	/** Position at which the subscription began. Earlier events do not count for `pause`. */
	#start = 0;
	#truncated = false;
	/** Time span of the last delivered event, by device. Empty without the argument `pause`. */
	readonly #spans = new Map<string, number>();

	constructor(log: EventLog, query: EventQuery, { cursor, maxAgeMs }: Pick<EventRequest, "cursor" | "maxAgeMs"> = {}) {
		this.#log = log;
		this.#query = query;
		this.#position = log.last;
		this.#start = log.last;
		if (typeof cursor === "string") {
			this.#seek(cursor);
		}
		if (typeof cursor === "string" && maxAgeMs !== undefined) {
			const oldest = Date.now() - maxAgeMs;
			const first = log.after(this.#position).find(({ timestamp }) => Date.parse(timestamp) >= oldest);
			const position = first === undefined ? log.last : first.seq - 1;
			this.#truncated ||= position > this.#position;
			this.#position = Math.max(this.#position, position);
		}
		this.#prime();
	}

	/** The place up to which everything was returned. */
	get cursor(): string {
		const start = this.#query.pause === undefined ? "" : `.${this.#start}`;
		return `${this.#log.epoch}.${this.#position}${start}`;
	}

	/** Whether events were skipped since this was asked for. */
	takeTruncated(): boolean {
		this.#checkLost();
		const truncated = this.#truncated;
		this.#truncated = false;
		return truncated;
	}

	/** Releases the subscription. Call it once it has ended. */
	close(): void {
		this.#query.onClose?.();
	}

	/** The next events, oldest first; none if there are no more at the moment. The cursor moves behind them. */
	next(limit = MAX_BATCH): readonly LoggedEvent[] {
		this.#checkLost();
		const found: LoggedEvent[] = [];
		for (const event of this.#log.after(this.#position)) {
			if (found.length === limit) {
				return found;
			}
			this.#position = event.seq;
			if (!this.#query.matches(event)) {
				continue;
			}
			if (event.name === LOST) {
				this.#truncated = true;
				// The loss is reported before the events that follow it.
				return found;
			}
			if (this.#isDue(event)) {
				found.push(event);
			}
		}
		return found;
	}

	/** Whether {@link next} would look at more. */
	get hasMore(): boolean {
		return this.#log.last > this.#position;
	}

	/** Resolves when there is something to look at, events were skipped, or the signal is aborted. */
	async changed(signal: AbortSignal): Promise<void> {
		if (!this.#truncated) {
			await this.#log.until(this.#position, signal);
		}
	}

	#seek(cursor: string): void {
		const [, epoch, seq, start = seq] = CURSOR.exec(cursor) ?? [];
		if (epoch === undefined) {
			throw new RangeError("cursor: not one of this server");
		}
		if (epoch !== this.#log.epoch || (Number(seq) > this.#log.last && !this.#log.isShared)) {
			this.#truncated = true;
			return;
		}
		this.#position = Number(seq);
		this.#start = Number(start);
	}

	/** Events that the log has lost before they were read. */
	#checkLost(): void {
		if (this.#position < this.#log.start) {
			this.#position = this.#log.start;
			this.#truncated = true;
		}
	}

	/** Finds the spans of time in which this subscription had an event before. It may have begun at another gateway, or be a poll. */
	#prime(): void {
		if (this.#query.pause === undefined) {
			return;
		}
		for (const event of this.#log.after(Math.max(this.#start, this.#log.start))) {
			if (event.seq > this.#position) {
				return;
			}
			if (event.name !== LOST && this.#query.matches(event)) {
				this.#isDue(event);
			}
		}
	}

	/** Spans begin at the same moments for everybody, so that polls need no memory of the polls before. */
	#isDue({ device, timestamp }: LoggedEvent): boolean {
		const { pause } = this.#query;
		if (pause === undefined) {
			return true;
		}
		const span = Math.floor(Date.parse(timestamp) / (pause * 1_000));
		if (this.#spans.get(device) === span) {
			return false;
		}
		this.#spans.set(device, span);
		return true;
	}
}
