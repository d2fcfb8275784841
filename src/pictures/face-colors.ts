import type { Theme } from "../hardware/hardware.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { Canvas } from "./canvas.js";

type Color = readonly [red: number, green: number, blue: number];

/** Colours by what they are for: light, dark. */
const PALETTE = deepFreeze({
	background: [
		[250, 249, 246],
		[17, 20, 29],
	],
	/** Text, brows, lines. */
	ink: [
		[42, 47, 66],
		[232, 237, 247],
	],
	/** Of an eye: the light in it, and what is under a lid. */
	glint: [
		[255, 255, 255],
		[17, 20, 29],
	],
	/** The ground of icons and levels. */
	quiet: [
		[214, 217, 226],
		[57, 63, 80],
	],
	blush: [
		[255, 196, 190],
		[116, 60, 76],
	],
	mouth: [
		[136, 44, 62],
		[196, 64, 86],
	],
	tongue: [
		[255, 138, 138],
		[255, 160, 160],
	],
	heart: [
		[240, 78, 106],
		[255, 96, 122],
	],
	tear: [
		[92, 172, 248],
		[104, 180, 255],
	],
	accent: [
		[28, 118, 216],
		[40, 128, 224],
	],
	alert: [
		[204, 48, 52],
		[204, 48, 52],
	],
	notice: [
		[178, 104, 0],
		[178, 104, 0],
	],
	/** Text on accent, alert and notice. */
	onColor: [
		[255, 255, 255],
		[255, 255, 255],
	],
} as const);

/** What `makeColor` made of the colours of a theme. */
export type Colors = Readonly<Record<keyof typeof PALETTE, number>>;

/** The least part of their light that colours keep: a screen that is dimmed to 0 can still be found. */
const LEAST_LIGHT = 0.15;

/**
 * The colours of a theme.
 *
 * @param dim percent of their full light
 */
export function mix(canvas: Canvas, theme: Theme, dim: number): Colors {
	const light = LEAST_LIGHT + ((1 - LEAST_LIGHT) * dim) / 100;
	const of = (pair: readonly [Color, Color]): number => {
		const [red, green, blue] = pair[theme === "light" ? 0 : 1];
		return canvas.makeColor(Math.round(red * light), Math.round(green * light), Math.round(blue * light));
	};
	const entries = Object.entries(PALETTE).map(([name, pair]) => [name, of(pair)] as const);
	return Object.fromEntries(entries) as Colors;
}
