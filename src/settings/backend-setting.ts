import { type BootstrapConfig, type Config, readBootstrapConfig, readConfig } from "./config.js";
import { readSetting, type SettingSource } from "./read-setting.js";
import { SettingError } from "./setting-error.js";

/** The backend as the settings name it. At most one of `bootstrap` and `gateway` is set. */
export interface BackendSetting {
	/** The backend comes from a server. */
	readonly bootstrap: BootstrapConfig | undefined;
	/** The gateway is searched on the local network: its hostname, empty for any. */
	readonly gateway: string | undefined;
	readonly config: Config;
}

/** The transport options that need no URL. */
interface BackendNeeds {
	/** It may serve clients directly, and then needs no backend. */
	readonly mayLackBackend: boolean;
	readonly findsGateways: boolean;
}

/** A backend that is to be found: `mdns:` or `mdns:HOST`. */
const SEARCH_SCHEME = "mdns:";

/**
 * Reads all settings of the backend.
 *
 * @param deviceId the device's MAC address
 * @throws SettingError
 */
export const readBackend = (
	source: SettingSource,
	deviceId: string,
	{ mayLackBackend, findsGateways }: BackendNeeds,
): BackendSetting => {
	const bootstrap = readBootstrapConfig(source);
	const backend = bootstrap === undefined ? readSetting("backend", source) : "";
	const gateway = backend?.startsWith(SEARCH_SCHEME) ? backend.slice(SEARCH_SCHEME.length) : undefined;
	if (gateway !== undefined && !findsGateways) {
		throw new SettingError("backend", "this build has no multicast DNS to find a gateway: name its address");
	}
	const comesLater = bootstrap !== undefined || gateway !== undefined || (mayLackBackend && backend === undefined);
	return { bootstrap, gateway, config: readConfig(source, deviceId, comesLater ? "" : undefined) };
};
