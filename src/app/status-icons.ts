import type { Guard } from "../hardware/guard.js";
import type { Board, Face } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Poll interval for battery and signal, ms. */
const POLL_INTERVAL = 30_000;

interface IconsLink {
	show(change: Partial<Face>): void;
	readonly guard: Guard;
}

/** Shows battery level and Wi-Fi signal on the screen. A value that cannot be read has no icon. */
export class StatusIcons {
	private readonly board: Pick<Board, "battery" | "network">;
	private readonly timer: TimerModule;
	private readonly link: IconsLink;
	private repeating: TimerHandle | undefined;
	private lastShown = "";

	constructor(link: IconsLink, board: Pick<Board, "battery" | "network" | "screen">, timer: TimerModule) {
		const { battery, network, screen } = board;
		this.board = board;
		this.timer = timer;
		this.link = link;
		if (screen !== undefined && (battery !== undefined || network?.type === "wifi")) {
			this.repeating = timer.repeat(() => this.update(), POLL_INTERVAL);
		}
		this.update();
	}

	online(): void {
		this.update();
	}

	offline(): void {
		this.update();
	}

	private update(): void {
		const { battery, network } = this.board;
		const { guard } = this.link;
		const change: Partial<Face> = {
			...(battery && { battery: guard.run(() => ({ level: battery.level, charging: battery.charging })) }),
			...(network?.type === "wifi" && { signal: guard.run(() => bars(network.rssi)) }),
		};
		const shown = JSON.stringify(change);
		if (shown !== this.lastShown && this.repeating !== undefined) {
			this.lastShown = shown;
			this.link.show(change);
		}
	}

	close(): void {
		this.timer.clear(this.repeating);
		this.repeating = undefined;
	}
}

/** The bars of a signal in dBm, from 1 to 3. A strength that is not known counts as a good one. */
const bars = (rssi = 0): number => {
	if (rssi >= -60) {
		return 3;
	}
	return rssi >= -75 ? 2 : 1;
};
