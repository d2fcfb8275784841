import Time from "time";
import { type RealTimeClock, RtcClock } from "./rtc-clock.js";

/** The real-time clock of the target, which sets the machine's clock at once. */
export const openRtc = (): RtcClock => {
	const { peripheral } = device as unknown as { peripheral: { RTC: new (options: object) => RealTimeClock } };
	return new RtcClock({
		rtc: new peripheral.RTC({}),
		setTime: (seconds) => Time.set(seconds),
		now: () => Date.now(),
		log: (message) => trace(`${message}\n`),
	});
};
