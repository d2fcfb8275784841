import { wantedGateway } from "../connect/gateway-search.js";
import type { Settings } from "../hardware/hardware.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { type BootstrapConfig, readBootstrapConfig } from "./bootstrap-config.js";
import { type Config, readConfig } from "./config.js";
import { readSetting } from "./read-setting.js";

/** What the settings say of the backend. At most one of `bootstrap` and `gateway` is there. */
export interface BackendSetting {
	/** A server is asked for the backend. */
	readonly bootstrap: BootstrapConfig | undefined;
	/** A gateway is to be found on the local network: its hostname, empty for any. */
	readonly gateway: string | undefined;
	/** All settings. Its `backend` is empty if the device is told it later, or has none. */
	readonly config: Config;
}

/** What the device can do without a URL. */
export interface BackendNeeds {
	/** It may serve clients directly, and then needs no backend. */
	readonly mayLackBackend: boolean;
	readonly findsGateways: boolean;
}

/**
 * Reads all settings, whichever way they name the backend.
 *
 * @param built the manifest's `config`
 * @throws ProtocolError "bad-config" that names the setting which cannot be used
 */
export function readBackend(
	built: Readonly<Record<string, unknown>>,
	settings: Pick<Settings, "get"> | undefined,
	deviceId: string,
	{ mayLackBackend, findsGateways }: BackendNeeds,
): BackendSetting {
	const bootstrap = readBootstrapConfig(built, settings);
	const setting = readSetting("backend", built, settings);
	const gateway = bootstrap === undefined ? wantedGateway(setting) : undefined;
	if (gateway !== undefined && !findsGateways) {
		throw new ProtocolError("bad-config", "backend: this platform has no multicast DNS, so it cannot find a gateway");
	}
	const comesLater = bootstrap !== undefined || gateway !== undefined || (mayLackBackend && setting === undefined);
	return {
		bootstrap,
		gateway,
		config: readConfig(built, settings, deviceId, comesLater ? { backend: "" } : undefined),
	};
}
