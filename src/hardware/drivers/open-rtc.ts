import Time from "time";
import { findDriver } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";
import { followRtc, type RealTimeClock } from "./rtc-clock.js";

type Rtc = new (options: object) => RealTimeClock;

/**
 * Sets the machine's clock by a real-time clock.
 *
 * @param driver default: the target's
 * @returns sets both, in seconds since 1970
 */
export const openRtc = (driver?: Rtc, options: object = {}): ((seconds: number) => void) => {
	const { peripheral } = device as unknown as { peripheral?: { RTC?: Rtc } };
	const Driver = (driver ?? peripheral?.RTC) as Rtc;
	return followRtc(new Driver(options), {
		setTime: (seconds) => Time.set(seconds),
		now: () => Date.now(),
		log: (message) => trace(`${message}\n`),
	});
};

/** Opens the real-time clock of a board, if it answers. */
export default ((opening) => {
	const { rtc } = opening.data;
	const setTime = openOptional("real-time clock", () =>
		typeof rtc === "string" ? openRtc(findDriver<Rtc>(rtc), { clock: boardBus() }) : openRtc(),
	);
	if (setTime !== undefined) {
		opening.setTime = setTime;
	}
}) satisfies OpenMember;
