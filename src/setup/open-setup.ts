import type { ListGateways } from "../backend/discovery/gateway-list.js";
import type { Board, Settings } from "../hardware/hardware.js";
import type { Runtime } from "../hardware/timer.js";
import type { HttpServerPlatform } from "../net/http-server.js";
import { readSetting, type SettingSource } from "../settings/read-setting.js";
import { hostnameOf } from "../text/hostname.js";
import { type BackendRoute, BackendTrial } from "./backend-trial.js";
import { PhoneSetup, type SetupEvents } from "./phone-setup.js";
import type { FindGateways, TryBackend } from "./setup-attempt.js";
import type { CheckSettings } from "./setup-form.js";

/** The dependencies of the set-up. */
export interface SetupOptions extends Runtime, Pick<SettingSource, "built"> {
	readonly board: Pick<Board, "accessPoint" | "screen" | "settings">;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	readonly check: CheckSettings;
	/** The way to the backend of these settings, to try it. Default: settings are stored untried. */
	readonly routeOf?: (settings: Pick<Settings, "get">) => BackendRoute;
	/** Default: the page does not look for gateways. */
	readonly listGateways?: ListGateways | undefined;
	/** Whether the page and the screen say that the device runs in safe mode. Default false. */
	readonly isSafe?: boolean | undefined;
	/** Default: Math.random, the chip's generator on an ESP32. */
	readonly random?: () => number;
}

/** The set-up of a board: the application makes it with its events. */
export type Setup = (events: SetupEvents) => PhoneSetup;

/** Letters and digits that are hard to confuse. */
const PASSWORD_CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const PASSWORD_LENGTH = 8;

/**
 * The set-up with a phone, on a board that has an access point and keeps settings.
 *
 * The access point's password is the setting `setupPassword`. Without it a board with a screen makes one each time and
 * shows it; on a board without a screen the network is open.
 *
 * @returns undefined on any other board
 * @throws SettingError
 */
export const openSetup = (platform: HttpServerPlatform, options: SetupOptions): Setup | undefined => {
	const { board, built, deviceId, isSafe = false, random = Math.random, listGateways, routeOf, timer, log } = options;
	const { accessPoint, screen, settings } = board;
	if (accessPoint === undefined || settings === undefined) {
		return undefined;
	}
	const source = { built, settings };
	const findGateways: FindGateways | undefined = listGateways && ((onEnd) => listGateways({ timer, onEnd, log }));
	const tryBackend: TryBackend | undefined =
		routeOf && ((settings, onEnd) => new BackendTrial({ ...routeOf(settings), timer, log, onEnd }));
	const password = readSetting("setupPassword", source);
	const rest = {
		platform,
		accessPoint,
		settings,
		random,
		isSafe,
		name: hostnameOf(deviceId),
		isProtected: password !== "" || screen !== undefined,
		makePassword: () => password || (screen === undefined ? "" : inventPassword(random)),
		patience: readSetting("setupTime", source),
		after: readSetting("setupAfter", source),
		findGateways,
		tryBackend,
	};
	return (events) => new PhoneSetup({ ...options, ...rest }, events);
};

const inventPassword = (random: () => number): string =>
	Array.from(
		{ length: PASSWORD_LENGTH },
		() => PASSWORD_CHARACTERS[Math.floor(random() * PASSWORD_CHARACTERS.length)],
	).join("");
