import type { Face } from "../hardware/hardware.js";
import type { Press } from "../hardware/kinds/button.js";
import type { Envelope, ProtocolError, Session } from "../protocols/envelope.js";
import type { Application } from "./application.js";
import { deepFreeze } from "./text/deep-freeze.js";

/** Receiver of the application's events. It has a method for each event that it needs. */
export interface Listener {
	/** All features have started, and the device follows its network. After a fatal error, only rescue features have. */
	onStart?(): void;
	/** The device is online. Not called for a network that the set-up only tries. */
	onOnline?(): void;
	/** The device is offline, or the set-up has begun. */
	onOffline?(): void;
	/** A session with the backend has started. */
	onSession?(session: Session): void;
	/** The session has ended, or could not start. The error is undefined if the device itself ended it. */
	onSessionLost?(error: ProtocolError | undefined): void;
	/** A session with the backend has started. Without a backend: the device is online. */
	onBackendReady?(): void;
	onState?(state: DeviceState): void;
	/** The device notifies its clients, whether or not there are any. */
	onNotification?(method: string, params: object): void;
	/** The face has changed, or would have on a board without a screen. */
	onFaceChange?(change: Partial<Face>): void;
	/** The backend has sent a message that is not MCP. */
	onMessage?(message: Envelope): void;
	/** The backend has sent a frame of audio. */
	onAudio?(frame: ArrayBuffer): void;
	/** The user interrupts the backend's speech. */
	onInterrupt?(): void;
	/** A button was pressed. @returns true to keep the press from other listeners and from its usual meaning */
	onPress?(button: string, press: Press): boolean;
	/** User activity other than a change of the face. */
	onUserActivity?(): void;
	/** A line is logged. @param time of it in milliseconds since the start. Default: now */
	onLog?(message: string, time?: number): void;
	/** A setting cannot be used. Closes what the rescue features will open again. No further event follows. */
	onClose?(): void;
}

/** A part of the firmware with access to its application. */
export abstract class AppPart {
	readonly app: Application;

	constructor(app: Application) {
		this.app = app;
	}
}

/** An optional part of the firmware: the default export of `feature` in the folder of its name. */
export interface Feature {
	readonly name: string;
	/** Features that start before it if the build has them. */
	readonly after?: readonly string[];
	/** Whether it also starts in safe mode, and when a setting cannot be used. */
	readonly rescue?: boolean;
	/** Reads its settings, and registers its tools, parts and listeners. @throws SettingError */
	start(app: Application): void;
}

/** Starts each feature after those in its `after`. */
export const startInOrder = (features: readonly Feature[], start: (feature: Feature) => void): void => {
	const left = new Set(features);
	const startAfter = (feature: Feature): void => {
		if (left.delete(feature)) {
			for (const other of features) {
				if (feature.after?.includes(other.name)) {
					startAfter(other);
				}
			}
			start(feature);
		}
	};
	for (const feature of features) {
		startAfter(feature);
	}
};

/** The states of a device, with the names the C++ firmware gave them. */
export type DeviceState =
	| "unknown"
	| "starting"
	| "wifi_configuring"
	| "activating"
	| "upgrading"
	| "idle"
	| "connecting"
	| "listening"
	| "speaking"
	| "fatal_error";

/** The transitions allowed from each state. A fatal error may happen in any state, and is final. */
export const TRANSITIONS: Readonly<Record<DeviceState, readonly DeviceState[]>> = deepFreeze({
	unknown: ["starting", "fatal_error"],
	starting: ["wifi_configuring", "activating", "fatal_error"],
	wifi_configuring: ["activating", "fatal_error"],
	activating: ["upgrading", "idle", "wifi_configuring", "fatal_error"],
	upgrading: ["idle", "activating", "fatal_error"],
	idle: ["connecting", "listening", "speaking", "activating", "upgrading", "wifi_configuring", "fatal_error"],
	connecting: ["idle", "listening", "fatal_error"],
	listening: ["speaking", "idle", "fatal_error"],
	speaking: ["listening", "idle", "fatal_error"],
	fatal_error: [],
});
