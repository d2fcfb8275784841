import { readSetting, type SettingSource } from "./read-setting.js";
import { SettingError } from "./setting-error.js";
import type { SettingName, SettingValue } from "./settings-table.js";

/** How the device reaches its backend, and how it introduces itself. src/settings/settings-table.ts describes each. */
export type Config = Values<
	"token" | "protocolVersion" | "mqttUsername" | "mqttPassword" | "keepAlive" | "chunkBytes" | "session" | "uuid"
> & {
	/** A URL; empty if it becomes known later, or without a backend. */
	readonly backend: string;
	readonly clientId: string;
	readonly publishTopic: string;
	readonly subscribeTopic: string;
	/** Undefined: the board's. */
	readonly name: string | undefined;
};

/** The settings of the bootstrap. */
export type BootstrapConfig = Values<"otaUrl" | "otaInterval" | "serialNumber" | "hmacKey" | "language">;

type Values<Name extends SettingName> = { readonly [Each in Name]: SettingValue<Each> };

/**
 * Reads and checks the settings of a backend.
 *
 * @param deviceId the device's MAC address
 * @param backend overrides the setting
 * @throws SettingError
 */
export const readConfig = (source: SettingSource, deviceId: string, backend?: string): Config => {
	const clientId = readSetting("clientId", source) ?? deviceId;
	return {
		backend: backend ?? readUrl(source),
		token: readSetting("token", source),
		protocolVersion: readSetting("protocolVersion", source),
		clientId,
		mqttUsername: readSetting("mqttUsername", source),
		mqttPassword: readSetting("mqttPassword", source),
		keepAlive: readSetting("keepAlive", source),
		publishTopic: readSetting("publishTopic", source) ?? `xs-mcp/${clientId}/up`,
		subscribeTopic: readSetting("subscribeTopic", source) ?? `xs-mcp/${clientId}/down`,
		chunkBytes: readSetting("chunkBytes", source),
		session: readSetting("session", source),
		name: readSetting("name", source) || undefined,
		uuid: readSetting("uuid", source),
	};
};

const readUrl = (source: SettingSource): string => {
	const url = readSetting("backend", source);
	if (url === undefined) {
		throw new SettingError("backend", "expected a URL: the setting is missing");
	}
	return url;
};

/**
 * Reads the settings of the bootstrap.
 *
 * @returns undefined if `otaUrl` is not set: the backend is then the setting `backend`
 * @throws SettingError
 */
export const readBootstrapConfig = (source: SettingSource): BootstrapConfig | undefined => {
	const otaUrl = readSetting("otaUrl", source);
	if (otaUrl === "") {
		return undefined;
	}
	return {
		otaUrl,
		otaInterval: readSetting("otaInterval", source),
		serialNumber: readSetting("serialNumber", source),
		hmacKey: readSetting("hmacKey", source),
		language: readSetting("language", source),
	};
};
