import type { Backend, BackendSource } from "../connect/backend-search.js";
import { Bootstrap, type BootstrapOptions } from "../connect/bootstrap.js";
import type { OpenDnsSd } from "../connect/dns-sd.js";
import { GatewaySearch } from "../connect/gateway-search.js";
import type { Setup, SetupOptions } from "../connect/open-setup.js";
import type { ServedBackend } from "../connect/served-backend.js";
import type { CheckSettings } from "../connect/setup-form.js";
import { DeviceStateMachine } from "../device_state/device-state.js";
import type { Board, Http, System } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import { EcmaHttp } from "../net/ecma-http.js";
import type { HttpClients } from "../net/http-client.js";
import type { Direct, DirectOptions } from "../net/open-direct.js";
import type { NetworkClients } from "../protocols/network-clients.js";
import type { Transport } from "../protocols/transport.js";
import { type BackendSetting, readBackend } from "../settings/backend-setting.js";
import { type Config, readConfig } from "../settings/config.js";
import { readSetting, withSettings } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
import { TOOLS } from "../tools/index.js";
import type { HardwareTool } from "../tools/support/define-tool.js";
import { FirmwareInstaller } from "../update/firmware-installer.js";
import { rollBack, Trial } from "../update/trial.js";
import { Application, type ApplicationOptions } from "./application.js";
import { createTransport, messageLimits } from "./create-transport.js";
import { type Mod, withModTools } from "./mod-tools.js";
import { openRescue } from "./rescue.js";
import { ServedTransport } from "./served-transport.js";
import { deviceUuid } from "./uuid.js";

/** What the firmware runs on, and what it offers. */
interface FirmwareOptions extends Pick<ApplicationOptions, "tools" | "features" | "ticks" | "onState"> {
	readonly board: Board & { readonly system: System };
	/** What the firmware was built with: the manifest's `config`. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly openNetwork: (built: Readonly<Record<string, unknown>>) => NetworkClients & HttpClients;
	readonly hmacSha256: BootstrapOptions["hmacSha256"];
	/** Serves MCP clients without a backend between, if a setting says so: `openDirect`. Default: it does not. */
	readonly direct?: (options: DirectOptions) => Direct | undefined;
	/** Finds a gateway that announces itself, if the setting `backend` says so. Default: it cannot. */
	readonly openDnsSd?: OpenDnsSd | undefined;
	/** Sets the device up with a phone, on boards that can: `openSetup`. Default: it cannot be. */
	readonly setup?: (options: SetupOptions) => Setup | undefined;
	readonly timer: TimerModule;
	/** Tools that were installed beside the firmware. */
	readonly mod?: Mod | undefined;
	readonly log: (message: string) => void;
}

/**
 * Starts the firmware on a board. If a setting cannot be used, the device enters `fatal_error`, names the setting in the
 * log and on its screen, and opens the set-up by phone. It does not restart, because that would not change the setting.
 *
 * @returns undefined if a setting cannot be used
 */
export function startFirmware(options: FirmwareOptions): Application | undefined {
	try {
		const source = { built: options.built, settings: options.board.settings };
		const checks = {
			key: readSetting("updateKey", source),
			refusesDowngrades: readSetting("refuseDowngrades", source) === true,
		};
		const trial = new Trial({
			...options,
			updater: options.board.updater,
			settings: options.board.settings,
			time: readSetting("updateTrial", source) * 1000,
			onFailed: (message) => application.alert("Update failed", message),
		});
		const broken: string[] = [];
		const application = createApplication({ ...options, tools: allTools(options, broken) }, checks, trial);
		trial.start();
		application.start();
		for (const reason of broken) {
			options.log(`mod skipped: ${reason}`);
			application.alert("Mod skipped", reason);
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
}

/** @param broken takes why a mod is left out */
function allTools(
	{ tools = TOOLS, mod, board, timer, log }: FirmwareOptions,
	broken: string[],
): readonly HardwareTool[] {
	return withModTools({ tools, mod, settings: board.settings, timer, onBroken: (reason) => broken.push(reason), log });
}

/** New firmware that cannot use a setting will not reach its backend. */
function endTrial({ board, log }: FirmwareOptions, message: string): void {
	log(`update failed: ${message}; rolling back`);
	rollBack({ updater: board.updater, log });
}

/** What the backend's settings may leave to the firmware. */
function needsOf({ direct, openDnsSd }: FirmwareOptions) {
	return { mayLackBackend: direct !== undefined, findsGateways: openDnsSd !== undefined };
}

/** Whether the backend is the one that the settings name. */
function connectsByUrl({ bootstrap, gateway, config }: BackendSetting, isServed: boolean): boolean {
	return bootstrap === undefined && gateway === undefined && (config.backend !== "" || !isServed);
}

/** @param isServed whether the device may do without a backend, because it serves clients itself */
function settingsCheck(options: FirmwareOptions, isServed: boolean): CheckSettings {
	const { board, built, openNetwork, log } = options;
	const deviceId = board.system.macAddress;
	return (settings) => {
		const next = readBackend({ built, settings }, deviceId, needsOf(options));
		if (connectsByUrl(next, isServed)) {
			createTransport({ config: next.config, network: openNetwork(built), deviceId, uuid: "", log });
		}
	};
}

/** What the installer asks of images. */
type UpdateChecks = Pick<ConstructorParameters<typeof FirmwareInstaller>[0], "key" | "refusesDowngrades">;

function createApplication(options: FirmwareOptions, checks: UpdateChecks, trial: Trial): Application {
	const { built, openNetwork, timer, log } = options;
	const { settings } = options.board;
	const deviceId = options.board.system.macAddress;
	// All settings are checked now, also if the backend comes later.
	const said = readBackend({ built, settings }, deviceId, needsOf(options));
	const { config } = said;
	const { backend, chunkBytes } = config;
	const limits = messageLimits(chunkBytes);
	const direct = options.direct?.({ built, settings, deviceId, ...limits, timer, log });
	const uuid = deviceUuid(settings, config.uuid);
	const network = openNetwork(built);
	const http = new EcmaHttp({ network, timer, maxBytes: limits.maxQueuedBytes });
	const board = withInstaller({ ...options.board, http, close: () => options.board.close() }, checks, log);
	const reach = (config: Config): Transport => createTransport({ config, network, deviceId, uuid, log });
	const check = settingsCheck(options, direct !== undefined);
	const routeOf: SetupOptions["routeOf"] = (settings) => {
		const next = readBackend({ built, settings }, deviceId, needsOf(options));
		return {
			...(connectsByUrl(next, direct !== undefined) && { transport: reach(next.config) }),
			source: sourceOf(next, { ...options, board, uuid, http }),
			connect: (served) => reach(readConfig({ built, settings: withSettings(served, settings) }, deviceId)),
		};
	};
	const { openDnsSd } = options;
	const setup = options.setup?.({ board, built, deviceId, check, routeOf, openDnsSd, timer, log });
	const given = {
		...options,
		board,
		name: config.name,
		direct,
		setup,
		...underTrial(trial, config),
	};
	if (connectsByUrl(said, direct !== undefined)) {
		return new Application({ ...given, backend, transport: reach(config) });
	}
	const transport = new ServedTransport(limits.maxMessageBytes);
	const connect = (served: ServedBackend): Backend => {
		const config = readConfig({ built, settings: withSettings(served, settings) }, deviceId);
		const next = reach(config);
		return { url: config.backend, use: () => transport.use(next) };
	};
	const source = sourceOf(said, { ...options, board, uuid, http });
	return new Application({
		...given,
		transport,
		backend: source?.shown ?? backend,
		...(source && { source: { ...source, connect } }),
	});
}

type SourceParts = FirmwareOptions & Pick<BootstrapOptions, "board" | "uuid" | "http">;

/** Who tells the device its backend, and what the screen shows of them until then. */
function sourceOf({ bootstrap, gateway }: BackendSetting, parts: SourceParts) {
	const { openDnsSd, timer, log } = parts;
	if (bootstrap !== undefined) {
		const open: BackendSource["open"] = (events) => new Bootstrap({ ...parts, config: bootstrap, events });
		return { name: "bootstrap", shown: bootstrap.otaUrl, open };
	}
	if (gateway !== undefined && openDnsSd !== undefined) {
		const open: BackendSource["open"] = (events) =>
			new GatewaySearch({ host: gateway, openDnsSd, timer, log, ...events });
		return { name: "gateway search", shown: `mdns:${gateway}`, open };
	}
	return undefined;
}

/** New firmware shows that it reaches its backend, also if sessions are on demand and none is needed now. */
function underTrial(
	trial: Trial,
	{ session }: Config,
): Pick<ApplicationOptions, "session" | "onReached" | "hasFailed"> {
	return {
		session: trial.isRunning ? "always" : session,
		onReached: () => trial.pass(),
		hasFailed: (version) => trial.hasFailed(version),
	};
}

/** A board that can update itself installs firmware, over its network. */
function withInstaller<B extends Board & { readonly system: System; readonly http: Http }>(
	board: B,
	checks: UpdateChecks,
	log: (message: string) => void,
): B {
	const { updater, http, system, settings } = board;
	return updater === undefined
		? board
		: { ...board, installer: new FirmwareInstaller({ updater, http, system, settings, ...checks, log }) };
}

function showFatalError({ board, log }: FirmwareOptions, message: string): void {
	const state = new DeviceStateMachine({ onChange: (state) => board.screen?.show({ state }), log });
	state.enter("fatal_error");
	log(`fatal error: ${message}`);
	board.screen?.show({ alert: { status: "Invalid setting", message } });
}
