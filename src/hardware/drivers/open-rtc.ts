import Time from "time";
import type { OpenMember } from "../board-data.js";
import { boardBus, chipClass, openOptional } from "./open-optional.js";
import { followRtc, type RealTimeClock } from "./rtc-clock.js";

/** Opens the real-time clock of a board, if it answers, and sets the machine's clock by it. */
export default ((opening) => {
	const { rtc } = opening.data;
	const driver = typeof rtc === "string" ? rtc : undefined;
	opening.setTime = openOptional("real-time clock", () => {
		const Rtc = chipClass<new (options: object) => RealTimeClock>(driver, "peripheral", "RTC");
		return followRtc(new Rtc(driver === undefined ? {} : { clock: boardBus() }), {
			setTime: (seconds) => Time.set(seconds),
			now: () => Date.now(),
			log: (message) => trace(`${message}\n`),
		});
	});
}) satisfies OpenMember;
