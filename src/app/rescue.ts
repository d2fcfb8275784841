import type { Board, System } from "../hardware/hardware.js";
import type { Setup, SetupOptions } from "../setup/open-setup.js";

export interface RescueOptions extends Omit<SetupOptions, "board" | "deviceId"> {
	readonly board: Board & { readonly system: System };
	/** Sets the device up with a phone, on boards that can. */
	readonly setup?: ((options: SetupOptions) => Setup | undefined) | undefined;
}

/** The device restarts this many milliseconds after its settings were corrected. */
const RESTART_DELAY = 1000;

/**
 * Opens the set-up by phone on a device whose settings cannot be used, so that they can be corrected. It restarts once
 * they are stored. If nobody uses the set-up, it is opened again later.
 */
export function openRescue({ board, setup, ...options }: RescueOptions): void {
	const { screen, system } = board;
	try {
		const rescue = setup?.({ ...options, board, deviceId: system.macAddress })?.({
			onNeeded: () => rescue?.begin(),
			onShow: (notice) => screen?.show({ setup: notice }),
			onEnd: (restart) => (restart ? system.restart(RESTART_DELAY) : rescue?.follow(false)),
		});
		rescue?.beginByItself();
	} catch (error) {
		// The setting that cannot be used may be one of the set-up's own.
		options.log(`set-up: could not open: ${String(error)}`);
	}
}
