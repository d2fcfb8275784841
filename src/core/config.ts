import type { Settings } from "../hardware/hardware.js";
import { readSetting, readSettings, SettingError, type SettingSource } from "./read-setting.js";

/** Scheme of a backend that mDNS finds: `mdns:` or `mdns:HOST`. */
export const SEARCH_SCHEME = "mdns:";

const NAMES = Object.freeze([
	"token",
	"protocolVersion",
	"mqttUsername",
	"mqttPassword",
	"keepAlive",
	"chunkBytes",
	"session",
	"uuid",
] as const);

/** How the device reaches its backend, and how it introduces itself. */
export type Config = ReturnType<typeof readSettings<(typeof NAMES)[number]>> & {
	/** A URL; empty if it becomes known later, or without a backend. */
	readonly backend: string;
	readonly clientId: string;
	readonly publishTopic: string;
	readonly subscribeTopic: string;
};

/**
 * Reads and checks the settings of a backend.
 *
 * @param deviceId the device's MAC address
 * @param backend overrides the setting
 * @throws SettingError
 */
export const readConfig = (source: SettingSource, deviceId: string, backend?: string): Config => {
	const clientId = readSetting("clientId", source) ?? deviceId;
	const url = backend ?? readSetting("backend", source);
	if (url === undefined) {
		throw new SettingError("backend", "expected a URL: the setting is missing");
	}
	const settings = readSettings(NAMES, source);
	// MQTT 3.1.1 §3.1.2.9: no password without a user name.
	if (url.startsWith("mqtt") && settings.mqttPassword !== "" && settings.mqttUsername === "") {
		throw new SettingError("mqttUsername", "required with mqttPassword");
	}
	return {
		...settings,
		backend: url,
		clientId,
		publishTopic: readSetting("publishTopic", source) ?? `xs-mcp/${clientId}/up`,
		subscribeTopic: readSetting("subscribeTopic", source) ?? `xs-mcp/${clientId}/down`,
	};
};

/**
 * Reads the settings for clients without a gateway.
 *
 * @param address the address to listen on; a token is required unless it is loopback
 * @returns undefined if `http` is not set
 * @throws SettingError
 */
export const readDirectConfig = (source: SettingSource, address: string) => {
	const port = readSetting("http", source);
	if (port === undefined) {
		return undefined;
	}
	const token = readSetting("httpToken", source);
	const isLoopback = /^127(\.\d{1,3}){3}$/.test(address) || address === "::1" || address === "localhost";
	if (token === "" && !isLoopback) {
		throw new SettingError("httpToken", `a device that listens on ${address} needs a token`);
	}
	return { port, token };
};

/**
 * Returns the device's UUID: the configured one, or a random one of version 4
 * (https://www.rfc-editor.org/rfc/rfc9562#section-5.4), which is made once and stored in flash.
 *
 * @param configured overrides the stored one
 */
export const deviceUuid = (settings: Settings | undefined, configured?: string): string => {
	const stored = settings?.get("board", "uuid");
	if (typeof stored === "string" && (configured === undefined || configured === stored)) {
		return stored;
	}
	const uuid = configured ?? makeUuid();
	settings?.set("board", "uuid", uuid);
	return uuid;
};

const makeUuid = (): string =>
	"xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (place) => {
		const digit = Math.floor(Math.random() * 16);
		return (place === "x" ? digit : (digit & 0x3) | 0x8).toString(16);
	});
