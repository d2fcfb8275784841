/** A Wi-Fi network that was found. */
export interface FoundNetwork {
	readonly ssid: string;
	/** Received signal strength in dBm. */
	readonly rssi: number;
	/** Whether it needs a password. */
	readonly secured: boolean;
}

/** The credentials to join or open a Wi-Fi network. */
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
	/** Opens the network. The device leaves its network, and joins none until `join`, `rejoin` or `close`. */
	open(access: WiFiAccess): void;
	/** Closes the network. The device stays in a network that it has joined meanwhile, or joins a known one. */
	close(): void;
	/** Scans for networks, once for concurrent calls. Never rejects: the list is empty if the scan fails. */
	scan(): Promise<readonly FoundNetwork[]>;
	/** Tries to join a network, after a scan in progress. Never rejects: resolves to whether it was joined. */
	join(access: WiFiAccess): Promise<boolean>;
	/** Tries to join the known networks in range. `join` ends it. Never rejects: resolves to whether one was joined. */
	rejoin(): Promise<boolean>;
}

/** The set-up of Wi-Fi and backend with a phone. Provided by the application, not by the board. */
export interface WiFiSetup {
	/**
	 * Starts the set-up, unless it is open or firmware is being installed.
	 *
	 * @param delay milliseconds until the start. Default 0
	 */
	begin(delay?: number): void;
}

/** The notice on the screen during the set-up. */
export interface SetupNotice extends WiFiAccess {
	/** The URL of the set-up page. */
	readonly url: string;
	/** The current step; empty until settings were sent. */
	readonly progress: string;
}
