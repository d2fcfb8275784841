import type { BootstrapOptions } from "../backend/bootstrap/bootstrap.js";
import type { BackendSource } from "../backend/search/backend-search.js";
import type { Board, Http, System } from "../hardware/hardware.js";
import type { HttpClients } from "../net/http-client.js";
import { type BackendSetting, readBackend } from "../settings/config.js";
import type { SettingSource } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
import type { CheckSettings } from "../setup/setup-form.js";
import type { Addons } from "./addons.js";
import type { ApplicationOptions } from "./application-options.js";
import { createTransport, type NetworkClients } from "./create-transport.js";

/** The board, and what the firmware offers. */
export interface FirmwareOptions
	extends Partial<Addons>,
		Pick<ApplicationOptions, "tools" | "features" | "guard" | "isSafe" | "ticks" | "followers" | "timer" | "log">,
		Pick<SettingSource, "built"> {
	readonly board: Board & { readonly system: System };
	readonly openNetwork: (built: Readonly<Record<string, unknown>>) => NetworkClients & HttpClients;
}

/**
 * Reads what the settings say of the backend.
 *
 * @throws SettingError also if the build lacks what they ask for
 */
export const readBackendConfig = (
	{ direct, discovery, bootstrap, http }: FirmwareOptions,
	source: SettingSource,
	deviceId: string,
) => {
	const needs = { mayLackBackend: direct !== undefined, findsGateways: discovery !== undefined };
	const backendConfig = readBackend(source, deviceId, needs);
	if (backendConfig.bootstrap !== undefined && (bootstrap === undefined || http === undefined)) {
		throw new SettingError("otaUrl", "this build has no bootstrap");
	}
	return backendConfig;
};

/** Whether the settings name the backend. */
export const connectsByUrl = ({ bootstrap, gateway, config }: BackendSetting, isServed: boolean): boolean =>
	bootstrap === undefined && gateway === undefined && (config.backend !== "" || !isServed);

/** @param isServed whether the device may do without a backend, because it serves clients itself */
export const settingsCheck = (options: FirmwareOptions, isServed: boolean): CheckSettings => {
	const { board, built, openNetwork, log } = options;
	const deviceId = board.system.macAddress;
	return (settings) => {
		const next = readBackendConfig(options, { built, settings }, deviceId);
		if (connectsByUrl(next, isServed)) {
			createTransport({
				config: next.config,
				network: openNetwork(built),
				deviceId,
				uuid: "",
				mqtt: options.mqtt,
				log,
			});
		}
	};
};

interface SourceParts extends Omit<FirmwareOptions, "board" | "http">, Pick<BootstrapOptions, "prefersWebSocket"> {
	readonly board: BootstrapOptions["board"];
	readonly uuid: string;
	readonly http: Http | undefined;
}

interface FoundSource extends Pick<BackendSource, "name" | "open"> {
	/** For the screen. */
	readonly shown: string;
}

/** Finds the source of the backend's address, and what the screen shows until the address is known. */
export const sourceOf = (
	{ bootstrap: config, gateway }: BackendSetting,
	parts: SourceParts,
): FoundSource | undefined => {
	const { bootstrap, discovery, http, timer, log } = parts;
	if (config !== undefined && bootstrap !== undefined && http !== undefined) {
		const open: BackendSource["open"] = (events) => bootstrap({ ...parts, http, config, events });
		return { name: "bootstrap", shown: config.otaUrl, open };
	}
	if (gateway !== undefined && discovery !== undefined) {
		const open: BackendSource["open"] = (events) => discovery.search({ host: gateway, timer, log, ...events });
		return { name: "gateway search", shown: `mdns:${gateway}`, open };
	}
	return undefined;
};
