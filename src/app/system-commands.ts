import type { DeviceState } from "../device_state/device-state.js";
import type { Envelope } from "../protocols/envelope.js";
import { shortText } from "../text/short-text.js";
import type { Application } from "./application.js";
import type { Listener } from "./listener.js";

/** Delay of a restart, ms, so that queued messages still arrive. */
export const RESTART_DELAY = 1000;

/** Carries out the commands of `system` messages. */
export class SystemCommands implements Listener {
	private readonly app: Application;
	private restartsWhenIdle = false;

	constructor(app: Application) {
		this.app = app;
	}

	onMessage({ type, command: given }: Envelope): void {
		const { board, state, log } = this.app;
		const command = shortText(given);
		if (type !== "system") {
			return;
		}
		if (command === "reboot") {
			board.system.restart(RESTART_DELAY);
		} else if (command === "lazy_reboot") {
			this.restartsWhenIdle = true;
			this.onState(state);
		} else {
			log(`unknown system command ${JSON.stringify(command)}`);
		}
	}

	/** Restarts an idle device, so that no conversation is cut off. */
	onState(state: DeviceState): void {
		if (this.restartsWhenIdle && state === "idle") {
			this.restartsWhenIdle = false;
			this.app.board.system.restart(RESTART_DELAY);
		}
	}
}
