import type { Runtime, TimerHandle } from "../hardware.js";

/** ECMA-419's NTP client. */
interface NtpClient {
	/** @param callback gets the time in milliseconds since 1970, or an error once every server has been tried */
	getTime(callback: (error: Error | null | undefined, time?: number) => void): void;
	close(): void;
}

export interface NtpRecord {
	readonly io: new (options: object) => NtpClient;
}

export interface NtpClockOptions extends Runtime {
	/** The client's record, with its servers, sockets and resolver. */
	readonly ntp: NtpRecord;
	/** Sets the machine's clock, in seconds since 1970. */
	readonly setTime: (seconds: number) => void;
	/** The machine's time, in milliseconds since 1970. */
	readonly now: () => number;
}

/** If the machine's time is before 2025, it was never set. */
export const MIN_TIME = 1_735_689_600_000;

/** Milliseconds from an attempt that failed to the next. */
const NTP_RETRY_INTERVAL = 60_000;

/** Milliseconds from an answer to the next request: a chip's clock drifts by some seconds a day. */
const NTP_INTERVAL = 86_400_000;

/** The machine's clock, set by NTP (RFC 5905), and again each day. */
export class NtpClock {
	private readonly options: NtpClockOptions;
	private client: NtpClient | undefined;
	private next: TimerHandle | undefined;
	/** Whether the last request was answered. A lack of answers is logged once. */
	private isAnswered = true;

	constructor(options: NtpClockOptions) {
		this.options = options;
	}

	/** Whether the time is known. */
	get isSet(): boolean {
		return this.options.now() >= MIN_TIME;
	}

	/** Requests the time, and calls back after an answer or the lack of one. Repeats daily, or each minute. */
	ask(done: () => void): void {
		this.close();
		const { io, ...record } = this.options.ntp;
		try {
			const client = new io(record);
			this.client = client;
			client.getTime((error, time) => {
				if (this.client === client) {
					this.take(error ? undefined : time, done);
				}
			});
		} catch {
			// Without a socket there is no answer.
			this.take(undefined, done);
		}
	}

	private take(time: number | undefined, done: () => void): void {
		const { setTime, timer, log } = this.options;
		this.close();
		this.next = timer.set(() => this.ask(() => {}), time === undefined ? NTP_RETRY_INTERVAL : NTP_INTERVAL);
		if (time !== undefined) {
			setTime(Math.round(time / 1000));
			log(`clock: set to ${new Date(time).toISOString()}`);
		} else if (this.isAnswered) {
			log(`clock: no answer from the time server${this.isSet ? "" : "; certificates cannot be checked yet"}`);
		}
		this.isAnswered = time !== undefined;
		done();
	}

	/** Stops until {@link ask} is called. */
	close(): void {
		this.options.timer.clear(this.next);
		this.next = undefined;
		this.client?.close();
		this.client = undefined;
	}
}
