import type { ListGateways } from "../backend/discovery/gateway-list.js";
import type { Board, Settings } from "../hardware/hardware.js";
import type { Runtime } from "../hardware/timer.js";
import type { SettingSource } from "../settings/read-setting.js";
import type { BackendRoute } from "./backend-trial.js";
import type { CheckSettings } from "./setup-form.js";

/** The dependencies of the set-up. */
export interface SetupOptions extends Runtime, Pick<SettingSource, "built"> {
	readonly board: Pick<Board, "accessPoint" | "bootButton" | "screen" | "settings" | "system">;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	readonly check: CheckSettings;
	/** The way to the backend of these settings, to try it. Default: settings are stored untried. */
	readonly routeOf?: (settings: Pick<Settings, "get">) => BackendRoute;
	/** Default: the page does not look for gateways. */
	readonly listGateways?: ListGateways | undefined;
	/** Whether page and screen say that the device runs in safe mode. Default: false. */
	readonly isSafe?: boolean | undefined;
	/** Returns a number in [0, 1). Default: Math.random, the chip's generator on an ESP32. */
	readonly random?: () => number;
}
