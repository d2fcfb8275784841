import type { DeviceState } from "../device_state/device-state.js";
import type { System } from "../hardware/hardware.js";
import type { Switches } from "../hardware/switch.js";
import type { Runtime, TimerHandle } from "../hardware/timer.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { Attachment } from "./application-options.js";
import { RESTART_DELAY } from "./system-commands.js";

interface OfflineRestartOptions extends Runtime {
	readonly board: { readonly system: Pick<System, "restart">; readonly switches?: Switches };
	/** Seconds; 0: never. */
	readonly after: number;
	/** Whether the network is enough, because a session begins only on demand. */
	readonly isOnDemand: boolean;
}

const BUSY: readonly DeviceState[] = deepFreeze(["upgrading", "wifi_configuring"]);

/**
 * Restarts a device that has lost its backend or its network for long, as a last resort: the chip's network stack may hang. Once
 * per loss, because a device that was not reached since its start does not restart. A switch that is on defers it.
 */
export class OfflineRestart implements Attachment {
	private readonly options: OfflineRestartOptions;
	private hasReached = false;
	private isBusy = false;
	private waiting: TimerHandle | undefined;

	constructor(options: OfflineRestartOptions) {
		this.options = options;
	}

	reached(): void {
		this.hasReached = true;
		this.stop();
	}

	online(): void {
		if (this.options.isOnDemand) {
			this.reached();
		}
	}

	offline(): void {
		this.wait();
	}

	lost(): void {
		if (!this.options.isOnDemand) {
			this.wait();
		}
	}

	stateChanged(state: DeviceState): void {
		this.isBusy = BUSY.includes(state);
	}

	close(): void {
		this.hasReached = false;
		this.stop();
	}

	private stop(): void {
		this.options.timer.clear(this.waiting);
		this.waiting = undefined;
	}

	private wait(): void {
		const { after, timer } = this.options;
		if (this.hasReached && after > 0) {
			this.waiting ??= timer.set(() => this.restart(), after * 1000);
		}
	}

	private restart(): void {
		const { board, after, log } = this.options;
		this.waiting = undefined;
		if (this.isBusy || Object.values(board.switches ?? {}).some(({ on }) => on)) {
			this.wait();
			return;
		}
		log(`offline for ${after} s: restarting`);
		board.system.restart(RESTART_DELAY);
	}
}
