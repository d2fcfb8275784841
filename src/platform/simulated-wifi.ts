import Timer from "timer";
import { knownNetworks } from "../core/known-networks.js";
import { type SettingSource, settingText } from "../core/read-setting.js";
import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Network } from "../hardware/hardware.js";
import type { AccessPoint, FoundNetwork, WiFiAccess } from "../hardware/wifi-setup.js";

/** Invented networks and their passwords. */
const NETWORKS = deepFreeze([
	{ ssid: "Workshop", rssi: -48, password: "soldering-iron" },
	{ ssid: "Café Gräf", rssi: -63, password: "" },
	{ ssid: "Workshop", rssi: -71, password: "soldering-iron" },
	{ ssid: "Upstairs 5", rssi: -77, password: "not known here" },
	{ ssid: "", rssi: -80, password: "hidden network" },
	{ ssid: "a network whose name is 32 bytes", rssi: -86, password: "not known here" },
]);

/** Milliseconds that a scan and an attempt to join take. */
const SCAN_TIME = 300;
const JOIN_TIME = 500;

/**
 * Opens simulated Wi-Fi, if the setting `setupPort` names the port of the set-up page.
 *
 * @returns undefined if it is not set
 */
export const openSimulatedWiFi = (source: SettingSource): SimulatedWiFi | undefined => {
	const port = Number(settingText("setupPort", source));
	return port === 0 ? undefined : new SimulatedWiFi(knownNetworks(source), port);
};

/** Simulated Wi-Fi, to try the set-up: online if the settings name an invented network with its password. */
export class SimulatedWiFi implements Network, AccessPoint {
	readonly type = "wifi";
	readonly address = "127.0.0.1";
	readonly port: number;
	readonly rssi = -48;
	onChange: (() => void) | undefined;
	private readonly known: readonly WiFiAccess[];
	private joined: WiFiAccess | undefined;
	private isOpen = false;

	constructor(known: readonly WiFiAccess[], port: number) {
		this.known = known;
		this.port = port;
		this.joined = known.find(canJoin);
	}

	get ssid(): string {
		return (this.joined ?? this.known[0])?.ssid ?? "";
	}

	get online(): boolean {
		return !this.isOpen && this.joined !== undefined;
	}

	open(): void {
		this.isOpen = true;
		this.onChange?.();
	}

	close(): void {
		this.isOpen = false;
		this.onChange?.();
	}

	async scan(): Promise<readonly FoundNetwork[]> {
		await pass(SCAN_TIME);
		return NETWORKS.map(({ ssid, rssi, password }) => ({ ssid, rssi, secured: password !== "" }));
	}

	async join(access: WiFiAccess): Promise<boolean> {
		await pass(JOIN_TIME);
		if (!canJoin(access)) {
			return false;
		}
		this.joined = access;
		return true;
	}

	async rejoin(): Promise<boolean> {
		await pass(SCAN_TIME);
		return this.joined !== undefined;
	}
}

const pass = (time: number): Promise<void> =>
	new Promise((resolve) => {
		Timer.set(() => resolve(), time);
	});

const canJoin = (access: WiFiAccess): boolean =>
	NETWORKS.some(({ ssid, password }) => ssid !== "" && ssid === access.ssid && password === access.password);
