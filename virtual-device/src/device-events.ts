import type { EngineExit } from "./engine/engine.js";
import type { TracedMessage } from "./services/network-faults.js";
import type { ScreenPicture } from "./services/pictures.js";
import type { PinState } from "./services/pins.js";
import type { LightState } from "./services/simulated-board.js";
import type { PlayedSamples } from "./services/sounds.js";

/** Events of a virtual device. */
export interface DeviceEvents {
	/** A line of the firmware's log. */
	trace: [line: string];
	/** The screen has changed; `changed` names the members of the face that were shown just now. */
	screen: [screen: ScreenPicture, changed: readonly string[]];
	light: [name: string, light: LightState];
	/** A pin was opened, or its value has changed. */
	pin: [pin: PinState];
	/** The screen shows a picture, a JPEG or PNG file. */
	picture: [picture: Uint8Array];
	/** A message between the device and its backend. */
	message: [message: TracedMessage];
	/** The speaker plays. Silence between two sounds is not reported. */
	samples: [played: PlayedSamples];
	/** A sound has ended. */
	silence: [];
	/** Something that a user would notice. */
	note: [text: string];
	/** A port to serve at could not be opened. */
	listenFailed: [message: string];
	/** The engine ended, by itself or because the firmware asked for a restart. */
	exit: [exit: EngineExit];
	/** Something around it was changed: a sensor's value, the battery, the network. */
	surrounded: [];
	/** The device has no power until it starts. */
	halted: [];
	/** The device is up again after a restart. */
	restarted: [];
}
