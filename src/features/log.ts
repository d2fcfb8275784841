import { AppPart, type Feature, type Listener } from "../core/listener.js";
import type { DeviceLog, TimerHandle } from "../hardware/hardware.js";
import { notificationMessage } from "../mcp_server/json-rpc.js";

/** Limits of the lines that are kept, which take the heap of a chip. */
const MAX_LINES = 24;
const MAX_LENGTH = 160;
const MAX_CHARACTERS = 2_000;

/**
 * Milliseconds from the start of a session until lines are sent, because a gateway is not ready for them earlier. Also the pause
 * after {@link MAX_LINES} lines, because a backend may answer each by a message that is logged, and so causes the next.
 */
const SEND_DELAY = 5_000;

/** Keeps the latest lines of the device's log, and sends them in a session. */
export class RecentLog extends AppPart implements DeviceLog, Listener {
	readonly lines: string[] = [];
	private characters = 0;
	/** Number of unsent lines at the end. */
	private unsent = 0;
	/** Number of lines that may be sent until the next pause. */
	private room = 0;
	private isSending = false;
	private delay: TimerHandle | undefined;

	/** Adds a line. Queries of URLs are left out, because they may hold keys. */
	onLog(message: string, time = this.app.uptime): void {
		const text = message.replace(/(:\/\/[^\s?]*\?)\S+/g, "$1…");
		const line = `${(time / 1000).toFixed(1)} ${text}`.slice(0, MAX_LENGTH);
		this.lines.push(line);
		this.characters += line.length;
		while (this.lines.length > MAX_LINES || this.characters > MAX_CHARACTERS) {
			this.characters -= (this.lines.shift() as string).length;
		}
		this.unsent = Math.min(this.unsent + 1, this.lines.length);
		this.flush();
	}

	/** Starts a pause. A second hello changes the session without ending it. */
	onSession(): void {
		this.onSessionLost();
		this.delay = this.app.timer.set(() => {
			this.room = MAX_LINES;
			this.flush();
		}, SEND_DELAY);
	}

	onSessionLost(): void {
		this.app.timer.clear(this.delay);
		this.room = 0;
	}

	/** Sends the unsent lines, including those that are logged meanwhile. */
	private flush(): void {
		if (this.isSending) {
			return;
		}
		this.isSending = true;
		// Without a session the protocol would log each line that it drops, which would be a line to send.
		while (this.room > 0 && this.app.backend.session !== undefined && this.unsent > 0) {
			const line = this.lines.at(-this.unsent) as string;
			this.unsent -= 1;
			this.room -= 1;
			if (this.room === 0) {
				this.onSession();
			}
			const message = { level: "debug", logger: "device", data: line };
			this.app.backend.receiver?.notify(notificationMessage("notifications/message", message));
		}
		this.isSending = false;
	}
}

/** The latest lines of the device's log, for the backend and the tool `self.get_log`. */
export default {
	name: "log",
	rescue: true,
	start(app) {
		const log = new RecentLog(app);
		Object.assign(app.board, { log });
		app.listen(log);
	},
} satisfies Feature;
