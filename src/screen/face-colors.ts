import type { Theme } from "../hardware/hardware.js";
import type { Canvas } from "./brush.js";

/**
 * Colours by their use: for the light theme, for the dark one. `ink`: text, brows, lines; `glint`: the light in an eye;
 * `quiet`: the ground of icons and levels; `onColor`: text on accent, notice and alert. One text, which takes less of a
 * chip's flash than an object.
 */
const PALETTE = `
background FAF9F6 11141D
ink 2A2F42 E8EDF7
glint FFFFFF 11141D
quiet D6D9E2 393F50
blush FFC4BE 743C4C
mouth 882C3E C44056
tongue FF8A8A FFA0A0
heart F04E6A FF607A
tear 5CACF8 68B4FF
accent 1C76D8 2880E0
alert CC3034 CC3034
notice B26800 B26800
onColor FFFFFF FFFFFF
`;

type ColorName =
	| ("background" | "ink" | "glint" | "quiet" | "blush" | "mouth" | "tongue" | "heart" | "tear")
	| ("accent" | "alert" | "notice" | "onColor");

/** The colours of a theme, from `makeColor`. */
export type Colors = Readonly<Record<ColorName, number>>;

/** Minimum share of a colour's light, so that a screen dimmed to 0 can still be seen. */
const LEAST_LIGHT = 0.15;

/** The colours of a theme. @param dim percent of their full light */
export const mix = (canvas: Canvas, theme: Theme, dim: number): Colors => {
	const light = LEAST_LIGHT + ((1 - LEAST_LIGHT) * dim) / 100;
	const colors = {} as Record<ColorName, number>;
	for (const line of PALETTE.trim().split("\n")) {
		const [name, ofLight = "", ofDark = ""] = line.split(" ");
		const color = Number.parseInt(theme === "light" ? ofLight : ofDark, 16);
		const part = (shift: number): number => Math.round(((color >> shift) & 0xff) * light);
		colors[name as ColorName] = canvas.makeColor(part(16), part(8), part(0));
	}
	return colors;
};
