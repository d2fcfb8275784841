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

/** Whether a device in one state may enter another. */
export const mayEnter = (from: DeviceState, to: DeviceState): boolean => TRANSITIONS[from].includes(to);
