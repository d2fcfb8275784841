import type { Feature } from "../app/application.js";
import { RecentLog } from "./recent-log.js";

/** The latest lines of the device's log, for the backend and the tool `self.get_log`. */
const log: Feature = {
	name: "log",
	rescue: true,
	start(app) {
		const log = new RecentLog(app);
		Object.assign(app.board, { log });
		app.listen(log);
	},
};

export default log;
