import type { ServerRegistry } from "xs-mcp-manager/core";
import type { Announcements } from "./announcements.js";

/** Caller in the log and the console. */
const PRINCIPAL = "timer";

/** Has devices say the text of a timer, after a chime, when it is due: also in quiet hours, as somebody has asked for it. */
export function speakTimers(
	servers: ServerRegistry,
	announcements: Announcements,
	onFailure: (device: string, reason: string) => void,
): void {
	servers.on("notification", (server, method, { text }) => {
		if (method !== "notifications/timer_due" || typeof text !== "string" || text.trim() === "") {
			return;
		}
		const { signal } = new AbortController();
		const what = { text: text.trim(), chime: true, isUrgent: true };
		void announcements.say(what, [server], { principal: PRINCIPAL, signal }).then(([said]) => {
			if (said?.outcome === "failed") {
				onFailure(server.id, said.reason ?? "");
			}
		});
	});
}
