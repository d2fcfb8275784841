import type { Network } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** ECMA-419's Wi-Fi network interface, as far as it is used. What is not known (yet) is undefined. */
export interface WiFiInterface {
	/** At least 500 when there is an address. */
	readonly connection: number;
	readonly MAC: string | undefined;
	readonly SSID: string | undefined;
	/** dBm */
	readonly RSSI: number | undefined;
	connect(options: { SSID: string; password?: string }): void;
	disconnect(): void;
	close(): void;
}

export interface WiFiRecord {
	readonly io: new (options: { onChanged: () => void }) => WiFiInterface;
}

/** Tells the time, which TLS needs: certificates have dates. */
export interface Clock {
	/** Whether the time is known. */
	readonly isSet: boolean;
	/** Whether a time server has told it since the start. Otherwise it may be that of a chip, which drifts. */
	readonly isChecked: boolean;
	/** Asks for the time. Calls back once, when it is known or cannot be had now. */
	ask(done: () => void): void;
	close(): void;
}

export interface WiFiNetworkOptions {
	readonly wifi: WiFiRecord;
	/** The access point's name. Empty: none is joined. */
	readonly ssid: string;
	/** Empty for an open network. */
	readonly password: string;
	/** Asked for the time as soon as there is an address. */
	readonly clock: Clock;
	/**
	 * Whether the backend is reached over TLS, whose certificates have dates: then the network counts as online only
	 * after the clock has answered.
	 */
	readonly needsTime: boolean;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/** ECMA-419: the connection has an address. */
const HAS_ADDRESS = 500;

/** Milliseconds between looks at whether the access point is joined, and so from a loss to the next attempt. */
export const WIFI_CHECK_INTERVAL = 5_000;

/** After so many looks without an address an attempt is given up, for another one: an access point may stay silent. */
const PATIENCE = 6;

/**
 * A network by Wi-Fi, joined and joined again for as long as the device runs.
 *
 * The interface tells its changes, but not that it has stopped trying: so it is looked at, too.
 */
export class WiFiNetwork implements Network {
	readonly type = "wifi";
	readonly macAddress: string;
	onChange: (() => void) | undefined;
	readonly #options: WiFiNetworkOptions;
	readonly #interface: WiFiInterface;
	readonly #watch: TimerHandle;
	#online = false;
	#asked = false;
	/** Looks since the present attempt began. */
	#looks = 0;

	constructor(options: WiFiNetworkOptions) {
		this.#options = options;
		const { io, ...record } = options.wifi;
		this.#interface = new io({ ...record, onChanged: () => this.#follow() });
		this.macAddress = (this.#interface.MAC ?? "").toLowerCase();
		this.#watch = options.timer.repeat(() => this.#look(), WIFI_CHECK_INTERVAL);
		if (options.ssid === "") {
			options.log('Wi-Fi: the setting "ssid" is empty, no network is joined');
		}
		this.#join();
	}

	get online(): boolean {
		return this.#online;
	}

	get ssid(): string {
		return this.#interface.SSID ?? this.#options.ssid;
	}

	/** dBm. Where there is no signal, the least that counts. */
	get rssi(): number {
		return this.#interface.RSSI ?? -100;
	}

	close(): void {
		this.#options.timer.clear(this.#watch);
		this.#options.clock.close();
		this.#interface.close();
	}

	#join(): void {
		const { ssid, password, log } = this.#options;
		this.#looks = 0;
		if (ssid === "") {
			return;
		}
		try {
			this.#interface.connect({ SSID: ssid, ...(password !== "" && { password }) });
		} catch (error) {
			log(`Wi-Fi: ${JSON.stringify(ssid)} not joined: ${String(error)}`);
		}
	}

	#look(): void {
		this.#follow();
		const { connection } = this.#interface;
		if (connection >= HAS_ADDRESS) {
			return;
		}
		this.#looks += 1;
		// 300 and 400: it is joining, or waits for an address.
		if (connection < 300) {
			this.#join();
		} else if (this.#looks >= PATIENCE) {
			this.#looks = 0;
			this.#interface.disconnect();
		}
	}

	#follow(): void {
		const joined = this.#interface.connection >= HAS_ADDRESS;
		if (!joined) {
			this.#asked = false;
			this.#tell(false);
			return;
		}
		const { clock, needsTime } = this.#options;
		const mustAsk = !this.#asked && !clock.isChecked;
		if (clock.isSet || (mustAsk && !needsTime)) {
			this.#tell(true);
		}
		if (mustAsk) {
			this.#asked = true;
			clock.ask(() => this.#tell(this.#interface.connection >= HAS_ADDRESS));
		}
	}

	#tell(online: boolean): void {
		if (online !== this.#online) {
			this.#online = online;
			this.#options.log(online ? `Wi-Fi: ${JSON.stringify(this.ssid)} joined` : "Wi-Fi: lost");
			this.onChange?.();
		}
	}
}
