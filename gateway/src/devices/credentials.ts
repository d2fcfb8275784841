/** What a device shows to be let in. */
export interface DeviceCredentials {
	/** Who it says it is. */
	readonly deviceId: string;
	/** WebSocket: the bearer token. MQTT: the password. Empty when there is none. */
	readonly secret: string;
	/** MQTT: the user name. */
	readonly username?: string;
}

/** Decides whether a device is let in. Must not throw. */
export type AuthenticateDevice = (credentials: DeviceCredentials) => boolean;
