import { definePartKind, type NamedPart } from "./part-kind.js";

/** A light of a board: an LED, or a strip of them. Writing a property changes the light at once. */
export interface Light extends NamedPart {
	on: boolean;
	/** Percent of its full brightness, an integer from 0 to 100, kept while it is off. Absent if it cannot be dimmed. */
	brightness?: number;
	/** Red, green and blue as 0xRRGGBB. Absent or undefined if the light has one colour only. */
	color?: number | undefined;
}

export const light = definePartKind<Light>()({
	name: "light",
	plural: "lights",
	status: [
		{ name: "on", type: "boolean" },
		{ name: "brightness", type: "integer", isOptional: true, unit: "%", range: [0, 100] },
		{ name: "color", type: "color", isOptional: true },
	],
	tool: { name: "self.light.set", part: "light", sets: ["on", "brightness", "color"] },
});
