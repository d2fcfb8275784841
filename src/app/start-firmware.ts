import type { ServedBackend } from "../backend/bootstrap/served-backend.js";
import type { Backend } from "../backend/search/backend-search.js";
import { DeviceStateMachine } from "../device_state/device-state.js";
import { Guard } from "../hardware/guard.js";
import type { Board, Http, System } from "../hardware/hardware.js";
import type { Transport } from "../protocols/transport.js";
import { type Config, deviceUuid, readConfig } from "../settings/config.js";
import { readSetting, type SettingSource, settingText, withSettings } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
import type { SettingValue } from "../settings/settings-table.js";
import { unknownSettings } from "../settings/unknown-settings.js";
import type { Setup } from "../setup/phone-setup.js";
import type { SetupOptions } from "../setup/setup-options.js";
import type { HardwareTool } from "../tools/define-tool.js";
import type { FirmwareInstallerOptions } from "../update/firmware-installer.js";
import type { Trial } from "../update/trial.js";
import { Application } from "./application.js";
import type { ApplicationOptions } from "./application-options.js";
import { createTransport, messageLimits } from "./create-transport.js";
import { connectsByUrl, type FirmwareOptions, readBackendConfig, settingsCheck, sourceOf } from "./firmware-backend.js";
import { OfflineRestart } from "./offline-restart.js";
import { SAFE_TIME } from "./safe-mode.js";
import { RESTART_DELAY } from "./system-commands.js";

/**
 * Starts the firmware on a board. If a setting cannot be used, the device enters `fatal_error`, names the setting in the
 * log and on its screen, and opens the set-up by phone. It does not restart, because that would not change the setting.
 *
 * @returns undefined if a setting cannot be used
 */
export const startFirmware = (options: FirmwareOptions): Application | undefined => {
	const unknown = unknownSettings(options.built);
	if (unknown.length > 0) {
		options.log(`unknown settings: ${unknown.join(", ")}`);
	}
	try {
		const source = { built: options.built, settings: options.board.settings };
		const checks = {
			keys: readSetting("updateKey", source),
			refusesDowngrades: readSetting("refuseDowngrades", source) === true,
		};
		const trial = options.update?.trial({
			...options,
			updater: options.board.updater,
			settings: options.board.settings,
			time: readSetting("updateTrial", source) * 1000,
			onFailed: (message) => application.alert("updateFailed", message),
		});
		const broken: string[] = [];
		const application = createApplication({ ...options, tools: allTools(options, broken) }, checks, trial);
		trial?.start();
		application.start();
		if (options.isSafe) {
			followSafeMode(options, application);
		}
		for (const reason of broken) {
			options.log(`mod skipped: ${reason}`);
			application.alert("modSkipped", reason);
		}
		return application;
	} catch (error) {
		if (!(error instanceof SettingError)) {
			throw error;
		}
		showFatalError(options, error.message);
		if (options.board.updater?.isOnTrial) {
			endTrial(options, error.message);
		} else {
			openRescue({ ...options, check: settingsCheck(options, options.direct !== undefined) });
		}
		return undefined;
	}
};

/** Says that the device runs in safe mode, and restarts it after a time, unless it is being set up or updated then. */
const followSafeMode = ({ board, timer, log }: FirmwareOptions, application: Application): void => {
	const message = "the device restarted again and again; it has only set-up and update now";
	log(`safe mode: ${message}`);
	application.alert("safeMode", message);
	timer.repeat(() => {
		if (application.state !== "upgrading" && application.state !== "wifi_configuring") {
			board.system.restart(RESTART_DELAY);
		}
	}, SAFE_TIME);
};

/** @param broken called with the reason if a mod is left out */
const allTools = ({ tools, mods, board, timer, log }: FirmwareOptions, broken: string[]): readonly HardwareTool[] => {
	const onBroken = (reason: string): void => void broken.push(reason);
	return mods?.({ tools, settings: board.settings, timer, onBroken, log }) ?? tools;
};

/** New firmware that cannot use a setting will never reach its backend, so it is rolled back. */
const endTrial = ({ board, update, log }: FirmwareOptions, message: string): void => {
	log(`update failed: ${message}; rolling back`);
	update?.rollBack({ updater: board.updater, log });
};

type UpdateChecks = Pick<FirmwareInstallerOptions, "keys" | "refusesDowngrades">;

const createApplication = (options: FirmwareOptions, checks: UpdateChecks, trial: Trial | undefined): Application => {
	const { built, openNetwork, timer, mqtt, log } = options;
	const { settings } = options.board;
	const deviceId = options.board.system.macAddress;
	// All settings are checked now, even if the backend becomes known later.
	const backendConfig = readBackendConfig(options, { built, settings }, deviceId);
	const { config } = backendConfig;
	const { backend, chunkBytes } = config;
	const limits = messageLimits(chunkBytes);
	const direct = options.direct?.({ built, settings, deviceId, ...limits, timer, log });
	const uuid = deviceUuid(settings, config.uuid);
	const network = openNetwork(built);
	const http = options.http?.({ network, timer, maxBytes: limits.maxQueuedBytes });
	const board = withHttp(options, http, checks);
	const prefersWebSocket = options.voice !== undefined && board.codec !== undefined && network.openUdp === undefined;
	const openTransport = (config: Config): Transport => createTransport({ config, network, deviceId, uuid, mqtt, log });
	const check = settingsCheck(options, direct !== undefined);
	const routeOf: SetupOptions["routeOf"] = (settings) => {
		const next = readBackendConfig(options, { built, settings }, deviceId);
		return {
			...(connectsByUrl(next, direct !== undefined) && { transport: openTransport(next.config) }),
			source: sourceOf(next, { ...options, board, uuid, http, prefersWebSocket }),
			connect: (served) => openTransport(readConfig({ built, settings: withSettings(served, settings) }, deviceId)),
		};
	};
	const listGateways = options.discovery?.list;
	const { isSafe } = options;
	const setup = options.setup?.({ board, built, deviceId, check, routeOf, listGateways, isSafe, timer, log });
	// At a wake-up the chip starts from the beginning: firmware on trial would be rolled back.
	const guard = options.guard ?? new Guard(log, options.ticks ?? (() => 0));
	const power = options.power?.({ board, built, maySleep: trial?.isRunning !== true, guard, timer, log });
	const given = {
		...options,
		guard,
		board,
		name: config.name,
		direct,
		setup,
		power,
		openUdp: network.openUdp,
		...talkOptions(options, { built, settings }),
		words: options.language?.[readSetting("language", { built, settings })],
		// New firmware must prove that it reaches its backend, even if sessions are on demand and none is needed now.
		session: trial?.isRunning ? "always" : config.session,
		hasFailed: (version: string) => trial?.hasFailed(version) ?? false,
		followers: [
			...(options.followers ?? []),
			new OfflineRestart({
				board,
				after: readSetting("restartAfter", { built, settings }),
				isOnDemand: config.session === "on-demand",
				timer,
				log,
			}),
			...(trial ? [{ reached: () => trial.pass() }] : []),
		],
	};
	if (connectsByUrl(backendConfig, direct !== undefined)) {
		return new Application({ ...given, backend, transport: openTransport(config) });
	}
	if (options.search === undefined) {
		throw new SettingError("backend", "expected a URL: this build cannot do without");
	}
	const transport = options.search.transport(limits.maxMessageBytes);
	const connect = (served: ServedBackend): Backend => {
		const config = readConfig({ built, settings: withSettings(served, settings) }, deviceId);
		const next = openTransport(config);
		return { url: config.backend, use: () => transport.use(next) };
	};
	const source = sourceOf(backendConfig, { ...options, board, uuid, http, prefersWebSocket });
	return new Application({
		...given,
		transport,
		backend: source?.shown ?? backend,
		...(source && { source: { ...source, connect } }),
	});
};

const talkOptions = ({ conversation }: FirmwareOptions, source: SettingSource) => {
	const events = readSetting("events", source);
	const open: ApplicationOptions["conversation"] = conversation && ((options) => conversation({ ...options, events }));
	return {
		listenMode: readSetting("listenMode", source),
		audioParams: readSetting("audioParams", source),
		conversation: open,
	};
};

/** The board with HTTP; one that can update itself installs firmware over that. */
const withHttp = ({ board, update, log }: FirmwareOptions, http: Http | undefined, checks: UpdateChecks) => {
	const { updater, system, settings } = board;
	const installer = http && updater && update?.installer({ updater, http, system, settings, ...checks, log });
	return Object.assign(board, http && { http }, installer && { installer });
};

const showFatalError = ({ board, built, language: languages, log }: FirmwareOptions, message: string): void => {
	const state = new DeviceStateMachine({ onStateChange: (state) => board.screen?.show({ state }), log });
	state.enter("fatal_error");
	log(`fatal error: ${message}`);
	// The language may be the setting that cannot be used.
	const language = settingText("language", { built, settings: board.settings }) as SettingValue<"language">;
	const words = languages?.[language] ?? languages?.en;
	board.screen?.show({ words, alert: { status: words?.invalidSetting ?? "", message } });
};

interface RescueOptions extends Omit<SetupOptions, "board" | "deviceId"> {
	readonly board: Board & { readonly system: System };
	/** Sets the device up with a phone, on boards that can. */
	readonly setup?: ((options: SetupOptions) => Setup | undefined) | undefined;
}

/**
 * Opens the set-up by phone on a device whose settings cannot be used, so that they can be corrected. It restarts once
 * they are stored. If nobody uses the set-up, it is opened again later.
 */
const openRescue = ({ board, setup, ...options }: RescueOptions): void => {
	const { screen, system } = board;
	try {
		const rescue = setup?.({ ...options, board, deviceId: system.macAddress })?.({
			onNeeded: (isFallback) => rescue?.begin(isFallback),
			onAlert: (message) => screen?.show({ alert: { status: "", message } }),
			onShow: (notice) => screen?.show({ setup: notice }),
			onEnd: (restart) => (restart ? system.restart(RESTART_DELAY) : rescue?.follow(false)),
		});
		rescue?.beginByItself();
	} catch (error) {
		// The setting that cannot be used may be one of the set-up's own.
		options.log(`set-up: could not open: ${String(error)}`);
	}
};
