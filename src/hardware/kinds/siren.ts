import { definePartKind } from "./part-kind.js";
import { type Switch, switchKind } from "./switch.js";

/** Turns of a siren, in seconds. */
export interface SirenPattern {
	/** How long it sounds, and then rests, repeatedly. */
	readonly on: number;
	readonly off: number;
}

/** Something that sounds or flashes in a pattern: a siren, a buzzer, a beacon. It is on during the rests, too. */
export interface Siren extends Switch {
	/**
	 * Stops it, or starts it for some seconds, as a switch. A call while it is on also changes the pattern.
	 *
	 * @throws Error if it cannot be started, was started too recently, or may not be on for so long
	 */
	turn(on: boolean, seconds?: number, pattern?: SirenPattern): void;
}

export const siren = definePartKind<Siren>()({
	name: "siren",
	plural: "sirens",
	keepsAwake: true,
	status: switchKind.status,
	tool: { name: "self.siren.set", part: "name", sets: ["on"] },
	event: { ...switchKind.event, name: "siren.changed" },
});
