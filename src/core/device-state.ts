import { deepFreeze } from "./text/deep-freeze.js";

/** The states of a device, with the names the C++ firmware gave them. */
export type DeviceState =
	| "unknown"
	| "starting"
	| "wifi_configuring"
	| "audio_testing"
	| "activating"
	| "upgrading"
	| "idle"
	| "connecting"
	| "listening"
	| "speaking"
	| "fatal_error";

/** The transitions allowed from each state. A fatal error may happen in any state, and is final. */
const TRANSITIONS: Readonly<Record<DeviceState, readonly DeviceState[]>> = deepFreeze({
	unknown: ["starting", "fatal_error"],
	starting: ["wifi_configuring", "activating", "fatal_error"],
	wifi_configuring: ["audio_testing", "activating", "fatal_error"],
	audio_testing: ["wifi_configuring", "fatal_error"],
	activating: ["upgrading", "idle", "wifi_configuring", "fatal_error"],
	upgrading: ["idle", "activating", "fatal_error"],
	idle: ["connecting", "listening", "speaking", "activating", "upgrading", "wifi_configuring", "fatal_error"],
	connecting: ["idle", "listening", "fatal_error"],
	listening: ["speaking", "idle", "fatal_error"],
	speaking: ["listening", "idle", "fatal_error"],
	fatal_error: [],
});

export interface StateEvents {
	/** Called after each change, never for a rejected one. */
	onStateChange(newState: DeviceState, oldState: DeviceState): void;
	log(message: string): void;
}

/** The state machine: holds the device's state and allows only the transitions above. */
export class DeviceStateMachine {
	private _state: DeviceState = "unknown";
	private readonly events: StateEvents;

	constructor(events: StateEvents) {
		this.events = events;
	}

	get state(): DeviceState {
		return this._state;
	}

	/**
	 * Enters a state. Entering the current one is no change. An illegal transition is rejected and logged.
	 *
	 * @returns whether the device is in that state now
	 */
	enter(state: DeviceState): boolean {
		const old = this._state;
		if (state === old) {
			return true;
		}
		if (!TRANSITIONS[old].includes(state)) {
			this.events.log(`state ${old} -> ${state} refused`);
			return false;
		}
		this._state = state;
		this.events.onStateChange(state, old);
		return true;
	}
}
