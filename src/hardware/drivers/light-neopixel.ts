import { shownLight } from "./light-state.js";

/** The SDK's NeoPixel. */
export interface Pixels {
	/** 0 to 255. */
	brightness: number;
	/** @returns a color for `fill` */
	makeRGB(red: number, green: number, blue: number): number;
	/** Sets every pixel to this colour; visible after `update`. */
	fill(color: number): void;
	update(): void;
	close(): void;
}

const WHITE = 0xffffff;

/** Makes a light of a row of WS2812 LEDs, which all show the same. Initially white, at half its brightness. */
export const neoPixelLight = (pixels: Pixels) => {
	const state = { on: false, brightness: 50, color: WHITE };
	const show = ({ on, brightness, color }: typeof state): void => {
		const shown = on ? color : 0;
		pixels.brightness = Math.round((brightness * 255) / 100);
		pixels.fill(pixels.makeRGB(shown >> 16, (shown >> 8) & 255, shown & 255));
		pixels.update();
	};
	show(state);
	return shownLight(state, show, () => pixels.close());
};
