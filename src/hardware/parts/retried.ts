import type { DimmedLight } from "../drivers/light-state.js";
import type { Light } from "../kinds/light.js";
import type { TimerHandle } from "../timer.js";
import type { PartIo } from "./part.js";

/** Milliseconds until a part that does not answer is tried again; then twice as long, up to the longest. */
const FIRST_RETRY = 1_000;
const MAX_RETRY_DELAY = 60_000;

/** Something that may not answer, at the start or later: it is opened again and again until it does. */
export class Retried<Opened extends { close?(): void }> {
	private readonly open: () => Opened;
	private readonly io: PartIo;
	private opened: Opened | undefined;
	private _error: string | undefined;
	private delay = FIRST_RETRY;
	private retry: TimerHandle | undefined;

	/** Tries it at once. @param open throws if it does not answer */
	constructor(io: PartIo, open: () => Opened) {
		this.io = io;
		this.open = open;
		this.try();
	}

	/** Why it cannot be used now; undefined if it can. */
	get error(): string | undefined {
		return this._error;
	}

	/** @throws Error that says why it cannot be used now */
	get value(): Opened {
		if (this.opened === undefined) {
			throw new Error(`${this.io.name}: ${this._error}`);
		}
		return this.opened;
	}

	/** It has answered: the next fault is a new one. */
	works(): void {
		this.delay = FIRST_RETRY;
	}

	/** It does not answer any more: it is closed, and opened again later. */
	fail(error: unknown): void {
		const opened = this.opened;
		this.opened = undefined;
		closeQuietly(opened);
		this.later(error);
	}

	close(): void {
		this.io.timer.clear(this.retry);
		closeQuietly(this.opened);
		this.opened = undefined;
	}

	private try(): void {
		try {
			this.opened = this.open();
			this._error = undefined;
		} catch (error) {
			this.later(error);
		}
	}

	private later(error: unknown): void {
		const { name, timer, log } = this.io;
		const reason = error instanceof Error ? error.message : String(error);
		if (reason !== this._error) {
			log(`${name}: ${reason}; tried again`);
		}
		this._error = reason;
		timer.clear(this.retry);
		this.retry = timer.set(() => this.try(), this.delay);
		this.delay = Math.min(2 * this.delay, MAX_RETRY_DELAY);
	}
}

/** Closing fails, too, if the part does not answer. */
const closeQuietly = (opened: { close?(): void } | undefined): void => {
	try {
		opened?.close?.();
	} catch {
		// It is reopened.
	}
};

type ClosableLight = DimmedLight & { close(): void };

/** A light whose pin may not be there at once. Until then it is off, and cannot be changed. */
export class RetriedLight<Kind extends ClosableLight = ClosableLight> implements Light {
	readonly title: string | undefined;
	protected readonly light: Retried<Kind>;

	constructor(io: PartIo, title: string | undefined, open: () => Kind) {
		this.title = title;
		this.light = new Retried(io, open);
	}

	get error(): string | undefined {
		return this.light.error;
	}

	get on(): boolean {
		return this.error === undefined && this.light.value.on;
	}

	set on(on: boolean) {
		this.light.value.on = on;
	}

	get brightness(): number {
		return this.error === undefined ? this.light.value.brightness : 0;
	}

	set brightness(brightness: number) {
		this.light.value.brightness = brightness;
	}

	close(): void {
		this.light.close();
	}
}
