import type { ServedBackend } from "../backend/bootstrap/served-backend.js";
import type { Backend } from "../backend/search/backend-search.js";
import type { ConversationOptions } from "../conversation/backend-link.js";
import { DeviceStateMachine } from "../device_state/device-state.js";
import { Guard } from "../hardware/guard.js";
import type { Board, System } from "../hardware/hardware.js";
import type { Transport } from "../protocols/transport.js";
import { type Config, deviceUuid, readConfig } from "../settings/config.js";
import { readSetting, type SettingSource, settingText, withSettings } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
import type { SettingValue } from "../settings/settings-table.js";
import { unknownSettings } from "../settings/unknown-settings.js";
import type { Setup } from "../setup/phone-setup.js";
import type { SetupOptions } from "../setup/setup-options.js";
import type { Trial } from "../update/trial.js";
import { Application } from "./application.js";
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
	const { board, built, update, timer, log } = options;
	const { updater, settings } = board;
	const source = { built, settings };
	const unknown = unknownSettings(built);
	if (unknown.length > 0) {
		log(`unknown settings: ${unknown.join(", ")}`);
	}
	try {
		const trial = update?.trial({
			updater,
			settings,
			time: readSetting("updateTrial", source) * 1000,
			onFailed: (message) => application.alert("updateFailed", message),
			timer,
			log,
		});
		const broken: string[] = [];
		const onBroken = (reason: string): void => void broken.push(reason);
		const tools = options.mods?.({ tools: options.tools, settings, timer, onBroken, log }) ?? options.tools;
		const application = createApplication({ ...options, tools }, source, trial);
		trial?.start();
		application.start();
		if (options.isSafe) {
			followSafeMode(options, application);
		}
		for (const reason of broken) {
			log(`mod skipped: ${reason}`);
			application.alert("modSkipped", reason);
		}
		return application;
	} catch (error) {
		if (!(error instanceof SettingError)) {
			throw error;
		}
		showFatalError(options, error.message);
		if (updater?.isOnTrial) {
			// New firmware that cannot use a setting will never reach its backend.
			log(`update failed: ${error.message}; rolling back`);
			update?.rollBack({ updater, log });
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

const createApplication = (options: FirmwareOptions, source: SettingSource, trial: Trial | undefined): Application => {
	const { board, update, conversation, openNetwork, discovery, isSafe, timer, mqtt, log } = options;
	const { built, settings } = source;
	const { system, updater, codec } = board;
	const deviceId = system.macAddress;
	// All settings are checked now, even if the backend becomes known later.
	const backendConfig = readBackendConfig(options, source, deviceId);
	const { config } = backendConfig;
	const limits = messageLimits(config.chunkBytes);
	const direct = options.direct?.({ built, settings: board.settings, deviceId, ...limits, timer, log });
	const uuid = deviceUuid(board.settings, config.uuid);
	const network = openNetwork(built);
	const http = options.http?.({ network, timer, maxBytes: limits.maxQueuedBytes });
	const keys = readSetting("updateKey", source);
	const refusesDowngrades = readSetting("refuseDowngrades", source) === true;
	const checks = { settings: board.settings, keys, refusesDowngrades };
	const installer = http && updater && update?.installer({ updater, http, system, ...checks, log });
	Object.assign(board, http && { http }, installer && { installer });
	const prefersWebSocket = options.voice !== undefined && codec !== undefined && network.openUdp === undefined;
	const openTransport = (config: Config): Transport => createTransport({ config, network, deviceId, uuid, mqtt, log });
	const parts = { ...options, uuid, http, prefersWebSocket };
	const check = settingsCheck(options, direct !== undefined);
	const routeOf: SetupOptions["routeOf"] = (settings) => {
		const next = readBackendConfig(options, { built, settings }, deviceId);
		return {
			...(connectsByUrl(next, direct !== undefined) && { transport: openTransport(next.config) }),
			source: sourceOf(next, parts),
			connect: (served) => openTransport(readConfig({ built, settings: withSettings(served, settings) }, deviceId)),
		};
	};
	const listGateways = discovery?.list;
	const setup = options.setup?.({ board, built, deviceId, check, routeOf, listGateways, isSafe, timer, log });
	const guard = options.guard ?? new Guard(log, options.ticks ?? (() => 0));
	const events = readSetting("events", source);
	const given = {
		...options,
		guard,
		name: config.name,
		direct,
		setup,
		// At a wake-up the chip starts from the beginning: firmware on trial would be rolled back.
		power: options.power?.({ board, built, maySleep: trial?.isRunning !== true, guard, timer, log }),
		openUdp: network.openUdp,
		listenMode: readSetting("listenMode", source),
		audioParams: readSetting("audioParams", source),
		conversation: conversation && ((talk: TalkOptions) => conversation({ ...talk, events })),
		words: options.language?.[readSetting("language", source)],
		// New firmware must prove that it reaches its backend, even if sessions are on demand and none is needed now.
		session: trial?.isRunning ? "always" : config.session,
		hasFailed: (version: string) => trial?.hasFailed(version) ?? false,
		followers: [
			...(options.followers ?? []),
			new OfflineRestart({
				board,
				after: readSetting("restartAfter", source),
				isOnDemand: config.session === "on-demand",
				timer,
				log,
			}),
			...(trial ? [{ reached: () => trial.pass() }] : []),
		],
	} as const;
	if (connectsByUrl(backendConfig, direct !== undefined)) {
		return new Application({ ...given, backend: config.backend, transport: openTransport(config) });
	}
	const connect = (served: ServedBackend): Backend => {
		const config = readConfig({ built, settings: withSettings(served, settings) }, deviceId);
		return { url: config.backend, transport: openTransport(config) };
	};
	const found = sourceOf(backendConfig, parts);
	if (found !== undefined && options.search === undefined) {
		throw new SettingError("backend", "expected a URL: this build cannot search for a backend");
	}
	return new Application({
		...given,
		backend: found?.shown ?? config.backend,
		...(found && { source: { ...found, connect } }),
	});
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

/** Options of a conversation, without the setting `events`. */
type TalkOptions = Omit<ConversationOptions, "events">;

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
