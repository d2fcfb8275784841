import { withFirst } from "../../core/known-networks.js";
import type { StaticAddress } from "../../core/wifi-settings.js";
import type { UdpRecord, UdpSocket } from "../../protocols/udp-socket.js";
import type { Runtime } from "../hardware.js";
import type { AccessPoint, FoundNetwork, WiFiAccess } from "../wifi-setup.js";
import { openCaptiveDns } from "./captive-dns.js";
import { InterfaceNetwork, type NetworkClock, type NetworkInterface } from "./interface-network.js";

/** ECMA-419's Wi-Fi network interface. Unknown values are undefined. */
export interface WiFiInterface extends NetworkInterface {
	readonly SSID: string | undefined;
	/** dBm */
	readonly RSSI: number | undefined;
	connect(options: { SSID: string; password?: string }): void;
	disconnect(): void;
	scan(options: { onFound: (network: WiFiFound) => void; onComplete: () => void }): void;
}

/** The results of a scan. */
export interface WiFiFound {
	readonly SSID: string;
	readonly RSSI: number;
	/** "none" for an open network. Not in the standard. */
	readonly security?: string;
}

export interface WiFiNetworkOptions extends Runtime, NetworkClock {
	readonly wifi: new (options: { onChanged: () => void }) => WiFiInterface;
	/** Known networks. Of those in range the strongest is joined. */
	readonly networks: readonly WiFiAccess[];
	/** Fixed address in one of them. Default: all have DHCP. */
	readonly fixed?: { readonly ssid: string; readonly address: StaticAddress } | undefined;
	/** Sets the DNS server, which ECMA-419's interface cannot. */
	readonly setDns?: (address: string) => void;
	/** Opens and closes the chip's own network. */
	readonly radio: { open(access: WiFiAccess): void; close(): void };
	readonly udp: UdpRecord;
}

/** ECMA-419's state of a connection: below it there is none; above it is joining, or waits for an address. */
const JOINING = 300;

/** Poll interval of the interface, and so the time from a loss to the next attempt, ms. */
const WIFI_CHECK_INTERVAL = 5_000;

/** Polls of an attempt to join during the set-up, and their interval, ms. */
const JOIN_CHECKS = 25;
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
 * A Wi-Fi network, rejoined whenever it is lost, and the chip's own for the set-up, in which every name leads to the device.
 *
 * The interface reports changes but not that it gave up, so it is polled as well.
 */
export class WiFiNetwork extends InterfaceNetwork<WiFiInterface> implements AccessPoint {
	/** The address that ESP-IDF gives the chip in its own network. */
	readonly address = "192.168.4.1";
	readonly port = 80;
	private readonly options: WiFiNetworkOptions;
	private networks: readonly WiFiAccess[];
	/** Networks to try next. Once they are used up, a scan ranks the known networks again. */
	private candidates: WiFiAccess[] = [];
	/** During the set-up the device joins no network by itself. */
	private isPaused = false;
	/** Answers in the chip's own network. */
	private dns: Pick<UdpSocket, "close"> | undefined;
	/** Ends the attempt to join a network of the set-up, while there is one. */
	private endAttempt: ((isJoined: boolean) => void) | undefined;
	/** The scan in progress: it and an attempt to join disturb each other. */
	private _scan: Promise<readonly FoundNetwork[]> | undefined;
	/** Whether it tries the known networks during the set-up. */
	private isRejoining = false;
	/** Polls since the current attempt began. */
	private checks = 0;

	constructor(options: WiFiNetworkOptions) {
		super("wifi", "Wi-Fi", options.wifi, options);
		this.options = options;
		this.networks = options.networks;
		options.timer.repeat(() => this.checkConnection(), WIFI_CHECK_INTERVAL);
		if (options.networks.length === 0) {
			this.log('the setting "ssid" is empty, not joining a network');
		}
		this.joinNext();
	}

	get ssid(): string {
		return this.interface.SSID ?? this.networks[0]?.ssid ?? "";
	}

	/** dBm. The minimum without a signal. */
	get rssi(): number {
		return this.interface.RSSI ?? -100;
	}

	/** @throws if the radio or the port for DNS cannot be opened; nothing is open then */
	open(access: WiFiAccess): void {
		const { radio, udp } = this.options;
		this.isPaused = true;
		this.interface.disconnect();
		this.follow();
		try {
			radio.open(access);
			this.dns = openCaptiveDns(udp, this.address, (message) => this.log(message));
		} catch (error) {
			this.close();
			throw error;
		}
	}

	close(): void {
		this.dns?.close();
		this.dns = undefined;
		this.options.radio.close();
		this.isPaused = false;
		this.stopRejoining();
		this.checkConnection();
	}

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

	join(access: WiFiAccess): Promise<boolean> {
		this.stopRejoining();
		return this.tryNetwork(access);
	}

	/** Tries to join a network until a time limit, and ends another attempt. A joined network is known. @returns success */
	private tryNetwork(access: WiFiAccess): Promise<boolean> {
		const { timer } = this.options;
		this.endAttempt?.(false);
		return new Promise((resolve) => {
			let checks = 0;
			const check = (): void => {
				if (this._scan !== undefined) {
					return;
				}
				if (checks === 0) {
					this.interface.disconnect();
					this.connect(access);
				} else if (this.hasAddress || checks === JOIN_CHECKS) {
					end(this.hasAddress);
				} else if (this.interface.connection < JOINING) {
					this.connect(access);
				}
				checks += 1;
			};
			const watch = timer.repeat(check, JOIN_CHECK_INTERVAL);
			const end = (isJoined: boolean): void => {
				timer.clear(watch);
				this.endAttempt = undefined;
				if (isJoined) {
					this.networks = withFirst(access, this.networks);
				} else if (checks > 0) {
					this.interface.disconnect();
				}
				resolve(isJoined);
			};
			this.endAttempt = end;
			check();
		});
	}

	/** One entry per access point. */
	scan(): Promise<readonly FoundNetwork[]> {
		this.stopRejoining();
		this._scan ??= this.find().finally(() => {
			this._scan = undefined;
		});
		return this._scan;
	}

	private find(): Promise<readonly FoundNetwork[]> {
		const { timer } = this.options;
		return new Promise((resolve) => {
			const found: FoundNetwork[] = [];
			const finish = (): void => {
				timer.clear(limit);
				resolve(found);
			};
			const limit = timer.set(finish, SCAN_TIME);
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
				this.log(`scan failed: ${String(error)}`);
				finish();
			}
		});
	}

	/** Tries the next known network. If there are several, a scan ranks them. */
	private joinNext(): void {
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
		this.log(`joining ${JSON.stringify(ssid)}`);
		try {
			this.interface.connect({ SSID: ssid, ...(password !== "" && { password }) });
		} catch (error) {
			this.log(`could not join ${JSON.stringify(ssid)}: ${String(error)}`);
		}
	}

	private checkConnection(): void {
		this.follow();
		const isBusy = this._scan !== undefined || this.endAttempt !== undefined;
		if (this.hasAddress || this.isPaused || isBusy) {
			return;
		}
		this.checks += 1;
		if (this.interface.connection < JOINING) {
			this.joinNext();
		} else if (this.checks >= MAX_CHECKS) {
			this.checks = 0;
			this.interface.disconnect();
		}
	}

	protected override describe(): string {
		return `${JSON.stringify(this.ssid)} joined`;
	}

	protected override follow(): void {
		if (this.hasAddress) {
			this.candidates = [];
		}
		super.follow();
	}
}

/** Ranks known networks: those in range by their strength, then the others, which may be hidden. */
const rank = (networks: readonly WiFiAccess[], found: readonly FoundNetwork[]): WiFiAccess[] => {
	const strength = ({ ssid }: WiFiAccess): number =>
		found.reduce((best, each) => (each.ssid === ssid ? Math.max(best, each.rssi) : best), UNSEEN);
	return [...networks].sort((a, b) => strength(b) - strength(a));
};
