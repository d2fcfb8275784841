import Time from "time";
import type { OpenMember } from "../board-data.js";
import { MIN_TIME, type NtpClockOptions } from "./ntp-clock.js";
import { boardBus, chipClass } from "./open-optional.js";

/** ECMA-419's real-time clock. */
export interface RealTimeClock {
	/** Milliseconds since 1970; anything if it was never set. */
	time: number | undefined;
}

/**
 * Sets the machine's clock by a chip that keeps the time while the machine is off, unless it is right already or the chip
 * does not know the time.
 *
 * @returns sets the machine's clock and the chip, in seconds since 1970
 */
export const followRtc = (
	rtc: RealTimeClock,
	{ setTime, now, log }: Pick<NtpClockOptions, "setTime" | "now" | "log">,
): ((seconds: number) => void) => {
	const { time } = rtc;
	if (now() < MIN_TIME && time !== undefined && time >= MIN_TIME) {
		setTime(Math.round(time / 1000));
		log(`clock: set to ${new Date(time).toISOString()} by the real-time clock`);
	}
	return (seconds) => {
		setTime(seconds);
		try {
			rtc.time = seconds * 1000;
		} catch (error) {
			log(`clock: the real-time clock was not set: ${String(error)}`);
		}
	};
};

/** Opens the real-time clock of a board, if it answers, and sets the machine's clock by it. */
export default ((opening) => {
	const { rtc } = opening.data;
	const driver = typeof rtc === "string" ? rtc : undefined;
	const Rtc = chipClass<new (options: object) => RealTimeClock>(driver, "peripheral", "RTC");
	opening.setTime = followRtc(new Rtc(driver === undefined ? {} : { clock: boardBus() }), {
		setTime: (seconds) => Time.set(seconds),
		now: () => Date.now(),
		log: opening.log,
	});
}) satisfies OpenMember;
