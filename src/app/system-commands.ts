import type { DeviceState, DeviceStateMachine } from "../device_state/device-state.js";
import type { System } from "../hardware/hardware.js";
import type { Envelope } from "../protocols/envelope.js";
import { shortText } from "../text/short-text.js";

/** Milliseconds after which a restart takes place, so that what is being sent still arrives. */
export const RESTART_DELAY = 1000;

/** Carries out the commands of `system` messages. */
export class SystemCommands {
	private readonly system: System | undefined;
	private readonly state: Pick<DeviceStateMachine, "state">;
	private readonly log: (message: string) => void;
	private restartsWhenIdle = false;

	constructor(system: System | undefined, state: Pick<DeviceStateMachine, "state">, log: (message: string) => void) {
		this.system = system;
		this.state = state;
		this.log = log;
	}

	receive(message: Envelope): void {
		if (message.type === "system") {
			this.run(shortText(message.command));
		}
	}

	private run(command: string): void {
		if (command === "reboot" && this.system !== undefined) {
			this.system.restart(RESTART_DELAY);
		} else if (command === "lazy_reboot" && this.system !== undefined) {
			this.restartsWhenIdle = true;
			this.stateChanged(this.state.state);
		} else {
			this.log(`unknown system command ${JSON.stringify(command)}`);
		}
	}

	/** Once the device is idle no conversation is cut off. */
	stateChanged(state: DeviceState): void {
		if (this.restartsWhenIdle && state === "idle") {
			this.restartsWhenIdle = false;
			this.system?.restart(RESTART_DELAY);
		}
	}
}
