/** A Wi-Fi network that was found. */
export interface FoundNetwork {
	readonly ssid: string;
	/** Received signal strength in dBm. */
	readonly rssi: number;
	/** Whether it needs a password. */
	readonly secured: boolean;
}

/** What it takes to join a Wi-Fi network, or to open one. */
export interface WiFiAccess {
	/** At most 32 bytes as UTF-8. */
	readonly ssid: string;
	/** Empty for an open network; otherwise 8 to 63 characters. */
	readonly password: string;
}

/** A board's own Wi-Fi network, to which a phone connects to set the device up. */
export interface AccessPoint {
	/** The device's address in that network, where it serves the set-up page. */
	readonly address: string;
	/** The port of that page: 80, unless the platform has no such port for the firmware. */
	readonly port: number;
	/** Opens the network. The device leaves the one that it has joined, and joins none until `join` or `close`. */
	open(access: WiFiAccess): void;
	/** Closes the network. The device goes back to the network that it joined last, or to the one of its settings. */
	close(): void;
	/** Looks for networks. The promise never rejects: if nothing can be found the list is empty. */
	scan(): Promise<readonly FoundNetwork[]>;
	/** Tries to join a network. The promise never rejects: it tells whether the network is joined. */
	join(access: WiFiAccess): Promise<boolean>;
}

/** The set-up of Wi-Fi and backend with a phone, as the application offers it to other parts: no board brings it. */
export interface WiFiSetup {
	/**
	 * Begins the set-up, unless it has begun or firmware is being installed.
	 *
	 * @param delay milliseconds until then. Default: at once
	 */
	begin(delay?: number): void;
}

/** What the screen shows during the set-up. */
export interface SetupNotice extends WiFiAccess {
	/** The URL of the set-up page. */
	readonly url: string;
	/** What happens now: empty until settings were sent. */
	readonly progress: string;
}
