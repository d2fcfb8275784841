import Time from "time";
import { followRtc, type RealTimeClock } from "./rtc-clock.js";

/** Sets the machine's clock by the real-time clock of the target. @returns sets both, in seconds since 1970 */
export const openRtc = (): ((seconds: number) => void) => {
	const { peripheral } = device as unknown as { peripheral: { RTC: new (options: object) => RealTimeClock } };
	return followRtc(new peripheral.RTC({}), {
		setTime: (seconds) => Time.set(seconds),
		now: () => Date.now(),
		log: (message) => trace(`${message}\n`),
	});
};
