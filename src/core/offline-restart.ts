import type { TimerHandle } from "../hardware/hardware.js";
import { keepsAwake } from "../hardware/kinds/index.js";
import type { ProtocolError } from "../protocols/envelope.js";
import { AppPart, type Listener } from "./listener.js";

/**
 * Restarts a device that has been without backend or network for long, as a last resort: the chip's network stack may
 * hang. Restarts once per loss, because a device that has reached nothing since its start does not restart. A part that
 * keeps the device awake while it is on, such as a switch, defers it.
 */
export class OfflineRestart extends AppPart implements Listener {
	/** Seconds; 0: never. */
	private readonly after = this.app.setting("restartAfter");
	/** Whether the network is enough, because a session starts only on demand. */
	private readonly isOnDemand = this.app.setting("session") === "on-demand";
	private hasReached = false;
	private waiting: TimerHandle | undefined;

	onBackendReady(): void {
		this.hasReached = true;
		this.app.timer.clear(this.waiting);
		this.waiting = undefined;
	}

	onOnline(): void {
		if (this.isOnDemand) {
			this.onBackendReady();
		}
	}

	onOffline(): void {
		this.wait();
	}

	onSessionLost(error: ProtocolError | undefined): void {
		if (error !== undefined && !this.isOnDemand) {
			this.wait();
		}
	}

	private wait(): void {
		if (this.hasReached && this.after > 0) {
			this.waiting ??= this.app.timer.set(() => {
				const { app } = this;
				const { board, log, state } = app;
				this.waiting = undefined;
				if (state === "upgrading" || state === "wifi_configuring" || keepsAwake(board)) {
					this.wait();
				} else {
					log(`offline for ${this.after} s: restarting`);
					app.restart();
				}
			}, this.after * 1000);
		}
	}
}
