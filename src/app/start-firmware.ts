import { DeviceStateMachine } from "../device_state/device-state.js";
import type { Board, System } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import type { NetworkClients } from "../protocols/network-clients.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { Application, type ApplicationOptions } from "./application.js";
import { readConfig } from "./config.js";
import { createTransport } from "./create-transport.js";
import { deviceUuid } from "./uuid.js";

/** What the firmware runs on, and what it offers. */
export interface FirmwareOptions extends Pick<ApplicationOptions, "tools" | "features" | "ticks" | "onState"> {
	readonly board: Board & { readonly system: System };
	/** What the firmware was built with: the manifest's `config`. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly openNetwork: (built: Readonly<Record<string, unknown>>) => NetworkClients;
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
	const { board, built, openNetwork, log } = options;
	const deviceId = board.system.macAddress;
	const config = readConfig(built, board.settings, deviceId);
	const uuid = deviceUuid(board.settings, config.uuid);
	const transport = createTransport({ config, network: openNetwork(built), deviceId, uuid, log });
	return new Application({ ...options, backend: config.backend, transport, session: config.session });
}

function showFatalError({ board, log }: FirmwareOptions, message: string): void {
	const state = new DeviceStateMachine({ onChange: (state) => board.screen?.show({ state }), log });
	state.enter("fatal_error");
	log(`fatal error: ${message}`);
	board.screen?.show({ alert: { status: "Wrong setting", message } });
}
