import Resource from "Resource";
import Poco from "commodetto/Poco";
import parseBMF from "commodetto/parseBMF";
import config from "mc/config";
import qrCode from "qrcode";
import Timer from "timer";
import type { Backlight } from "../hardware/hardware.js";
import { FaceScreen } from "./face-screen.js";
import type { MakeQrCode } from "./setup-drawing.js";

/** The glyph sets; a build includes one (tools/make-fonts.ts). */
const GLYPH_SETS = Object.freeze(["cjk", "zh-hans", "ja", "latin"]);

/** Bytes of Poco's display list: a band of a face takes up to 4,300. */
const DISPLAY_LIST = 5120;

/** Opens a face on a screen that the SDK has a driver for. @param pixels the driver's instance */
export const openFace = (pixels: object, backlight?: Backlight): FaceScreen => {
	if (config.driverRotation) {
		// In addition to Poco's compiled rotation: some targets have their driver rotate, too.
		(pixels as { rotation: number }).rotation = config.driverRotation;
	}
	const charset = GLYPH_SETS.find((set) => Resource.exists(`glyphs-${set}.bf4`));
	return new FaceScreen({
		// Poco is compiled for the target's rotation, and throws for any other.
		canvas: new Poco(pixels as ConstructorParameters<typeof Poco>[0], {
			displayListLength: DISPLAY_LIST,
			rotation: config.rotation,
		}),
		font: parseBMF(new Resource(`glyphs-${charset}.bf4`)),
		charset,
		codeFont: parseBMF(new Resource("codes.bf4")),
		makeQrCode: qrCode as MakeQrCode,
		...(backlight && { backlight }),
		timer: Timer,
	});
};
