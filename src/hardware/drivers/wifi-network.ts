import { withFirst } from "../../core/known-networks.js";
import { hostnameOf } from "../../core/text/hostname.js";
import type { StaticAddress } from "../../core/wifi-settings.js";
import type { Network, Runtime, TimerHandle } from "../hardware.js";
import type { FoundNetwork, WiFiAccess } from "../wifi-setup.js";
import type { NtpClock } from "./ntp-clock.js";

/** ECMA-419's Wi-Fi network interface. Unknown values are undefined. */
export interface WiFiInterface {
	/** At least 500 when there is an address. */
	readonly connection: number;
	readonly MAC: string | undefined;
	readonly SSID: string | undefined;
	/** dBm */
	readonly RSSI: number | undefined;
	/** The option `hostname` is sent to the DHCP server. `static` is a fixed address, or false for one by DHCP. */
	configure(options: { hostname: string } | { static: StaticAddress | false }): void;
	connect(options: { SSID: string; password?: string }): void;
	disconnect(): void;
	scan(options: { onFound: (network: WiFiFound) => void; onComplete: () => void }): void;
	close(): void;
}

/** The results of a scan. */
export interface WiFiFound {
	readonly SSID: string;
	readonly RSSI: number;
	/** "none" for an open network. Not in the standard. */
	readonly security?: string;
}

export interface WiFiRecord {
	readonly io: new (options: { onChanged: () => void }) => WiFiInterface;
}

export interface WiFiNetworkOptions extends Runtime {
	readonly wifi: WiFiRecord;
	/** Known networks. Of those in range the strongest is joined. */
	readonly networks: readonly WiFiAccess[];
	/** Fixed address in one of them. Default: all have DHCP. */
	readonly fixed?: { readonly ssid: string; readonly address: StaticAddress } | undefined;
	/** Sets the DNS server, which ECMA-419's interface cannot. */
	readonly setDns?: (address: string) => void;
	/** Queried for the time as soon as there is an address: TLS needs it, because certificates have dates. */
	readonly clock: Pick<NtpClock, "isSet" | "ask" | "close">;
	/** Whether the backend needs TLS, and so the time: the network is online only after the clock has answered. */
	readonly needsTime: boolean;
}

/** ECMA-419's states of a connection: below JOINING there is none; below HAS_ADDRESS it is joining, or waits for an address. */
const JOINING = 300;
const HAS_ADDRESS = 500;

/** Poll interval of the interface, and so the time from a loss to the next attempt, ms. */
const WIFI_CHECK_INTERVAL = 5_000;

/** Milliseconds for an attempt to join during the set-up, and its poll interval. */
const JOIN_TIME = 25_000;
const JOIN_CHECK_INTERVAL = 1_000;

/** Milliseconds after which a scan is given up. */
const SCAN_TIME = 15_000;

/** Networks of a scan that are kept. */
const MAX_FOUND = 64;

/** Signal strength of a network that a scan has not found, dBm. */
const UNSEEN = -1_000;

/** Polls without an address after which the next attempt starts: an access point may stay silent. */
const MAX_CHECKS = 6;

/**
 * A Wi-Fi network, rejoined whenever it is lost.
 *
 * The interface reports changes but not that it gave up, so it is polled as well.
 */
export class WiFiNetwork implements Network {
	readonly type = "wifi";
	readonly macAddress: string;
	onChange: (() => void) | undefined;
	private readonly options: WiFiNetworkOptions;
	private readonly interface: WiFiInterface;
	private readonly watch: TimerHandle;
	private networks: readonly WiFiAccess[];
	/** Networks to try next. Once they are used up, a scan ranks the known networks again. */
	private candidates: WiFiAccess[] = [];
	/** During the set-up the device joins no network by itself. */
	private isPaused = false;
	/** Ends the attempt to join a network of the set-up, while there is one. */
	private endAttempt: ((isJoined: boolean) => void) | undefined;
	/** The scan in progress: it and an attempt to join disturb each other. */
	private _scan: Promise<readonly FoundNetwork[]> | undefined;
	/** Whether it tries the known networks during the set-up. */
	private isRejoining = false;
	private _online = false;
	private asked = false;
	/** Polls since the current attempt began. */
	private checks = 0;

	constructor(options: WiFiNetworkOptions) {
		this.options = options;
		this.networks = options.networks;
		const { io, ...record } = options.wifi;
		this.interface = new io({ ...record, onChanged: () => this.follow() });
		this.macAddress = (this.interface.MAC ?? "").toLowerCase();
		this.configure("hostname", { hostname: hostnameOf(this.macAddress) });
		this.watch = options.timer.repeat(() => this.checkConnection(), WIFI_CHECK_INTERVAL);
		if (options.networks.length === 0) {
			options.log('Wi-Fi: the setting "ssid" is empty, not joining a network');
		}
		this.join();
	}

	get online(): boolean {
		return this._online;
	}

	get ssid(): string {
		return this.interface.SSID ?? this.networks[0]?.ssid ?? "";
	}

	/** dBm. The minimum without a signal. */
	get rssi(): number {
		return this.interface.RSSI ?? -100;
	}

	/** Leaves the network, and joins none until `resume` or `join`. */
	pause(): void {
		this.isPaused = true;
		this.interface.disconnect();
		this.follow();
	}

	/** Joins the known networks again, after `pause`. */
	resume(): void {
		this.isPaused = false;
		this.stopRejoining();
		this.checkConnection();
	}

	/** Tries to join the known networks in range, and gives up for another attempt. Reports whether one was joined. */
	async rejoin(): Promise<boolean> {
		const found = await this.scan();
		this.isRejoining = this.endAttempt === undefined;
		let isJoined = false;
		for (const access of rank(this.networks, found)) {
			if (this.isRejoining && !isJoined && found.some(({ ssid }) => ssid === access.ssid)) {
				isJoined = await this.tryNetwork(access);
			}
		}
		this.isRejoining = false;
		return isJoined;
	}

	/** A person's scan or attempt comes first. */
	private stopRejoining(): void {
		if (this.isRejoining) {
			this.isRejoining = false;
			this.endAttempt?.(false);
		}
	}

	/** Joins a network, which is then known. Ends another attempt, and waits for a scan. @returns success */
	tryToJoin(access: WiFiAccess): Promise<boolean> {
		this.stopRejoining();
		return this.tryNetwork(access);
	}

	private tryNetwork(access: WiFiAccess): Promise<boolean> {
		const { timer } = this.options;
		this.endAttempt?.(false);
		return new Promise((resolve) => {
			let watch: TimerHandle | undefined;
			const end = (isJoined: boolean): void => {
				timer.clear(watch);
				this.endAttempt = undefined;
				if (isJoined) {
					this.networks = withFirst(access, this.networks);
				} else if (watch !== undefined) {
					this.interface.disconnect();
				}
				resolve(isJoined);
			};
			this.endAttempt = end;
			const begin = (): void => {
				if (this.endAttempt === end) {
					watch = this.attempt(access, end);
				}
			};
			if (this._scan === undefined) {
				begin();
			} else {
				void this._scan.then(begin);
			}
		});
	}

	/** Joins a network, again and again for a while. @returns the timer, which `end` clears */
	private attempt(access: WiFiAccess, end: (isJoined: boolean) => void): TimerHandle {
		this.interface.disconnect();
		this.connect(access);
		let left = JOIN_TIME / JOIN_CHECK_INTERVAL;
		return this.options.timer.repeat(() => {
			left -= 1;
			const isJoined = this.interface.connection >= HAS_ADDRESS;
			if (isJoined || left === 0) {
				end(isJoined);
			} else if (this.interface.connection < JOINING) {
				this.connect(access);
			}
		}, JOIN_CHECK_INTERVAL);
	}

	/** The networks in range, one entry per access point. Calls during a scan share it. */
	scan(): Promise<readonly FoundNetwork[]> {
		this.stopRejoining();
		this._scan ??= this.find().finally(() => {
			this._scan = undefined;
		});
		return this._scan;
	}

	private find(): Promise<readonly FoundNetwork[]> {
		const { timer, log } = this.options;
		return new Promise((resolve) => {
			const found: FoundNetwork[] = [];
			const limit = timer.set(() => resolve(found), SCAN_TIME);
			const finish = (): void => {
				timer.clear(limit);
				resolve(found);
			};
			try {
				this.interface.scan({
					onFound: ({ SSID, RSSI, security }) => {
						if (found.length < MAX_FOUND) {
							found.push({ ssid: SSID, rssi: RSSI, secured: security !== "none" });
						}
					},
					onComplete: finish,
				});
			} catch (error) {
				log(`Wi-Fi: scan failed: ${String(error)}`);
				finish();
			}
		});
	}

	close(): void {
		this.isPaused = true;
		this.options.timer.clear(this.watch);
		this.endAttempt?.(false);
		this.options.clock.close();
		this.interface.close();
	}

	/** A network without the device's name or address is better than none. */
	private configure(what: string, options: Parameters<WiFiInterface["configure"]>[0]): void {
		try {
			this.interface.configure(options);
		} catch (error) {
			this.options.log(`Wi-Fi: ${what} not set: ${String(error)}`);
		}
	}

	/** Tries the next known network. If there are several, a scan ranks them. */
	private join(): void {
		this.checks = 0;
		const next = this.candidates.shift() ?? (this.networks.length === 1 ? this.networks[0] : undefined);
		if (next !== undefined) {
			this.connect(next);
		} else if (this.networks.length > 1) {
			void this.scan().then((found) => {
				this.candidates = rank(this.networks, found);
				if (!this.isPaused) {
					this.checkConnection();
				}
			});
		}
	}

	private connect({ ssid, password }: WiFiAccess): void {
		const { fixed, setDns } = this.options;
		if (fixed !== undefined) {
			const isFixed = fixed.ssid === ssid;
			this.configure("address", { static: isFixed && fixed.address });
			if (isFixed) {
				setDns?.(fixed.address.dns);
			}
		}
		try {
			this.interface.connect({ SSID: ssid, ...(password !== "" && { password }) });
		} catch (error) {
			this.options.log(`Wi-Fi: could not join ${JSON.stringify(ssid)}: ${String(error)}`);
		}
	}

	private checkConnection(): void {
		this.follow();
		const { connection } = this.interface;
		const isBusy = this._scan !== undefined || this.endAttempt !== undefined;
		if (connection >= HAS_ADDRESS || this.isPaused || isBusy) {
			return;
		}
		this.checks += 1;
		if (connection < JOINING) {
			this.join();
		} else if (this.checks >= MAX_CHECKS) {
			this.checks = 0;
			this.interface.disconnect();
		}
	}

	private follow(): void {
		const joined = this.interface.connection >= HAS_ADDRESS;
		if (!joined) {
			if (this.asked) {
				// The SDK's NTP client repeats its request, and throws in a timer's callback without a network.
				this.asked = false;
				this.options.clock.close();
			}
			this.tell(false);
			return;
		}
		this.candidates = [];
		const { clock, needsTime } = this.options;
		if (clock.isSet || !needsTime) {
			this.tell(true);
		}
		if (!this.asked) {
			this.asked = true;
			clock.ask(() => this.tell(this.interface.connection >= HAS_ADDRESS));
		}
	}

	private tell(online: boolean): void {
		if (online !== this._online) {
			this._online = online;
			this.options.log(online ? `Wi-Fi: ${JSON.stringify(this.ssid)} joined` : "Wi-Fi: lost");
			this.onChange?.();
		}
	}
}

/** Ranks known networks: those in range by their strength, then the others, which may be hidden. */
const rank = (networks: readonly WiFiAccess[], found: readonly FoundNetwork[]): WiFiAccess[] => {
	const strength = ({ ssid }: WiFiAccess): number =>
		found.reduce((best, each) => (each.ssid === ssid ? Math.max(best, each.rssi) : best), UNSEEN);
	return [...networks].sort((a, b) => strength(b) - strength(a));
};
