import type { TimerModule } from "../hardware/timer.js";
import { RecentLog } from "./recent-log.js";

/** The latest lines of the device's log, for the backend and the tool `self.get_log`. */
export default (ticks: () => number, timer: TimerModule): RecentLog => new RecentLog(ticks, timer);
