import type { Settings } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import { type SettingSource, settingText } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";

/** When the set-up may begin by itself. */
export interface SetupNeedOptions extends Pick<SettingSource, "built"> {
	readonly settings: Settings;
	/** Whether the device's own network has a password. */
	readonly isProtected: boolean;
	/** Seconds without a network after which the set-up starts; 0: never by itself. */
	readonly after: number;
	readonly timer: TimerModule;
}

/** Stores the name of the network that was joined last. */
const JOINED = deepFreeze(["wifi", "joined"] as const);

/** Set until the stored backend was reached once. */
const UNREACHED = deepFreeze(["wifi", "unreached"] as const);

/** Finds out whether the device needs to be set up: it has no network for too long, or never reached its backend. */
export class SetupNeed {
	private readonly options: SetupNeedOptions;
	private readonly onNeeded: () => void;
	private timer: TimerHandle | undefined;

	constructor(options: SetupNeedOptions, onNeeded: () => void) {
		this.options = options;
		this.onNeeded = onNeeded;
	}

	/** Reports whether the device is online. */
	follow(online: boolean): void {
		const { timer, after, settings } = this.options;
		if (online) {
			this.stop();
			settings.set(...JOINED, this.ssid);
		}
		if (online ? this.isUnreached && after > 0 : this.mayBegin) {
			this.timer ??= timer.set(() => {
				this.timer = undefined;
				this.onNeeded();
			}, after * 1000);
		}
	}

	/** The backend that is stored from now on was not tried. */
	untried(): void {
		this.options.settings.set(...UNREACHED, "yes");
	}

	/** The device has reached its backend. */
	reached(): void {
		if (this.isUnreached) {
			this.options.settings.delete(...UNREACHED);
			this.stop();
		}
	}

	/** Waits no more. */
	stop(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}

	/**
	 * Whether the set-up may begin by itself. An attacker who jams the Wi-Fi could force set-up mode. So an unprotected device
	 * opens its network only while its settings have never worked.
	 */
	get mayBegin(): boolean {
		const { after, isProtected, settings } = this.options;
		return after > 0 && (isProtected || settings.get(...JOINED) !== this.ssid);
	}

	private get ssid(): string {
		return settingText("ssid", this.options);
	}

	private get isUnreached(): boolean {
		return this.options.settings.get(...UNREACHED) !== undefined;
	}
}
