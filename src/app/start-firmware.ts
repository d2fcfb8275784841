import { Bootstrap, type BootstrapOptions } from "../bootstrap/bootstrap.js";
import { readBootstrapConfig } from "../bootstrap/bootstrap-config.js";
import type { ServedBackend } from "../bootstrap/served-backend.js";
import { DeviceStateMachine } from "../device_state/device-state.js";
import type { OpenDnsSd } from "../discovery/dns-sd.js";
import { GatewaySearch, wantedGateway } from "../discovery/gateway-search.js";
import type { Board, System } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import { EcmaHttp, type HttpClients } from "../http/ecma-http.js";
import type { Direct, DirectOptions } from "../http_server/open-direct.js";
import type { NetworkClients } from "../protocols/network-clients.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import type { Transport } from "../protocols/transport.js";
import { readSetting } from "../read-setting.js";
import { Application, type ApplicationOptions } from "./application.js";
import type { Backend, BackendSource } from "./backend-search.js";
import { type Config, readConfig } from "./config.js";
import { createTransport, messageLimits } from "./create-transport.js";
import { ServedTransport } from "./served-transport.js";
import { deviceUuid } from "./uuid.js";

/** What the firmware runs on, and what it offers. */
export interface FirmwareOptions extends Pick<ApplicationOptions, "tools" | "features" | "ticks" | "onState"> {
	readonly board: Board & { readonly system: System };
	/** What the firmware was built with: the manifest's `config`. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly openNetwork: (built: Readonly<Record<string, unknown>>) => NetworkClients & HttpClients;
	readonly hmacSha256: BootstrapOptions["hmacSha256"];
	/** Serves MCP clients without a backend between, if a setting says so: `openDirect`. Default: it does not. */
	readonly direct?: (options: DirectOptions) => Direct | undefined;
	/** Finds a gateway that announces itself, if the setting `backend` says so. Default: it cannot. */
	readonly openDnsSd?: OpenDnsSd | undefined;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/**
 * Starts the firmware on a board. If a setting cannot be used, the device enters `fatal_error` and names the setting in
 * the log and on its screen. It neither ends the machine nor restarts, because a restart would not change the setting.
 *
 * @returns undefined if a setting cannot be used
 */
export function startFirmware(options: FirmwareOptions): Application | undefined {
	try {
		const application = createApplication(options);
		application.start();
		return application;
	} catch (error) {
		if (!(error instanceof ProtocolError && error.code === "bad-config")) {
			throw error;
		}
		showFatalError(options, error.message);
		return undefined;
	}
}

function createApplication(options: FirmwareOptions): Application {
	const { built, openNetwork, timer, log } = options;
	const { settings } = options.board;
	const deviceId = options.board.system.macAddress;
	const bootstrap = readBootstrapConfig(built, settings);
	const setting = readSetting("backend", built, settings);
	const gateway = bootstrap === undefined ? wantedGateway(setting) : undefined;
	// A backend that a bootstrap serves, or that is found, comes later; a device that serves clients directly may have none. All
	// other settings are checked now.
	const mayLackBackend = options.direct !== undefined && setting === undefined;
	const isServed = bootstrap !== undefined || gateway !== undefined || mayLackBackend;
	const config = readConfig(built, settings, deviceId, isServed ? { backend: "" } : undefined);
	const { backend, session, chunkBytes } = config;
	const limits = messageLimits(chunkBytes);
	const direct = options.direct?.({ built, settings, deviceId, ...limits, timer, log });
	const uuid = deviceUuid(settings, config.uuid);
	const network = openNetwork(built);
	const http = new EcmaHttp({ network, timer, maxBytes: limits.maxQueuedBytes });
	const board = { ...options.board, http, close: () => options.board.close() };
	const reach = (config: Config): Transport => createTransport({ config, network, deviceId, uuid, log });
	if (!isServed && (backend !== "" || direct === undefined)) {
		return new Application({ ...options, board, backend, transport: reach(config), session, direct });
	}
	const transport = new ServedTransport(limits.maxMessageBytes);
	const connect = (served: ServedBackend): Backend => {
		const config = readConfig(built, settings, deviceId, served);
		const next = reach(config);
		return { url: config.backend, use: () => transport.use(next) };
	};
	const common = { ...options, board, transport, session, direct };
	if (bootstrap !== undefined) {
		const open: BackendSource["open"] = (events) =>
			new Bootstrap({ ...options, config: bootstrap, board, uuid, http, events });
		return new Application({ ...common, backend: bootstrap.otaUrl, source: { name: "bootstrap", open, connect } });
	}
	if (gateway !== undefined) {
		const source = { name: "gateway search", open: findGateway(gateway, options), connect };
		return new Application({ ...common, backend: `mdns:${gateway}`, source });
	}
	return new Application({ ...common, backend });
}

/** @throws ProtocolError "bad-config" if the platform has no multicast DNS */
function findGateway(host: string, { openDnsSd, timer, log }: FirmwareOptions): BackendSource["open"] {
	if (openDnsSd === undefined) {
		throw new ProtocolError("bad-config", "backend: this platform has no multicast DNS, so it cannot find a gateway");
	}
	return (events) => new GatewaySearch({ host, openDnsSd, timer, log, ...events });
}

function showFatalError({ board, log }: FirmwareOptions, message: string): void {
	const state = new DeviceStateMachine({ onChange: (state) => board.screen?.show({ state }), log });
	state.enter("fatal_error");
	log(`fatal error: ${message}`);
	board.screen?.show({ alert: { status: "Wrong setting", message } });
}
