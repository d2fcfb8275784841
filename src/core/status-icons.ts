import type { Face } from "../hardware/hardware.js";
import { AppPart, type Listener } from "./listener.js";

/** Poll interval for battery and signal, ms. */
const POLL_INTERVAL = 30_000;

/** Shows battery level and Wi-Fi signal on the screen. A value that cannot be read has no icon. */
export class StatusIcons extends AppPart implements Listener {
	/** Undefined while no icons are shown. */
	private lastShown: string | undefined;

	onStart(): void {
		const { board, timer } = this.app;
		const { battery, network, screen } = board;
		if (screen !== undefined && (battery !== undefined || network?.type === "wifi")) {
			this.lastShown = "";
			timer.repeat(() => this.update(), POLL_INTERVAL);
			this.update();
		}
	}

	onOnline(): void {
		this.update();
	}

	onOffline(): void {
		this.update();
	}

	private update(): void {
		const { board, guard } = this.app;
		const { battery, network } = board;
		const change: Partial<Face> = {
			...(battery && { battery: guard.run(() => ({ level: battery.level, charging: battery.charging })) }),
			...(network?.type === "wifi" && { signal: guard.run(() => bars(network.rssi)) }),
		};
		const shown = JSON.stringify(change);
		if (this.lastShown !== undefined && shown !== this.lastShown) {
			this.lastShown = shown;
			this.app.show(change);
		}
	}
}

/** Number of bars for a signal in dBm, from 1 to 3. An unknown strength counts as good. */
const bars = (rssi = 0): number => {
	if (rssi >= -60) {
		return 3;
	}
	return rssi >= -75 ? 2 : 1;
};
