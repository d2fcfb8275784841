import Resource from "Resource";
import Poco from "commodetto/Poco";
import parseBMF from "commodetto/parseBMF";
import Timer from "timer";
import { FaceScreen } from "../drivers/face-screen.js";
import type { Backlight } from "../hardware/hardware.js";

/** Bytes of Poco's list of what it is to draw: one face takes about half. */
const DISPLAY_LIST = 4096;

/**
 * The face on a screen that the SDK has a driver for.
 *
 * @param pixels the driver's instance
 */
export function openFace(pixels: object, backlight?: Backlight): FaceScreen {
	return new FaceScreen({
		canvas: new Poco(pixels as ConstructorParameters<typeof Poco>[0], { displayListLength: DISPLAY_LIST }),
		font: parseBMF(new Resource("OpenSans-Semibold-18.bf4")),
		...(backlight && { backlight }),
		timer: Timer,
	});
}
