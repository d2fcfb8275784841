import { MIN_TIME, type NtpClockOptions } from "../wifi/ntp-clock.js";

/** ECMA-419's real-time clock, as far as it is used. */
export interface RealTimeClock {
	/** Milliseconds since 1970; anything if it was never set. */
	time: number | undefined;
}

interface RtcClockOptions extends Pick<NtpClockOptions, "setTime" | "now" | "log"> {
	readonly rtc: RealTimeClock;
}

/** A machine's clock, backed by a chip that keeps the time while the machine is off. */
export class RtcClock {
	private readonly options: RtcClockOptions;

	/** Sets the machine's clock at once, unless it is right already or the chip does not know the time. */
	constructor(options: RtcClockOptions) {
		this.options = options;
		const { rtc, setTime, now, log } = options;
		const { time } = rtc;
		if (now() < MIN_TIME && time !== undefined && time >= MIN_TIME) {
			setTime(Math.round(time / 1000));
			log(`clock: set to ${new Date(time).toISOString()} by the real-time clock`);
		}
	}

	/** Sets the machine's clock and the chip, in seconds since 1970. */
	set(seconds: number): void {
		const { rtc, setTime, log } = this.options;
		setTime(seconds);
		try {
			rtc.time = seconds * 1000;
		} catch (error) {
			log(`clock: the real-time clock was not set: ${String(error)}`);
		}
	}
}
