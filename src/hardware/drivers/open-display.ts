import config from "mc/config";
import { inBuild } from "../../platform/in-build.js";
import { openFace } from "../../screen/open-face.js";
import type openPreview from "../../screen/open-preview.js";
import type { DisplayData, OpenMember } from "../board-data.js";
import { openPwmLight, type PwmClass } from "./light-pwm.js";
import { shownLight } from "./light-state.js";

/** Opens a backlight: that of the SDK's target, or one on a pin. @returns undefined without one */
const openBacklight = (data: DisplayData["backlight"]) => {
	if (data === undefined) {
		return undefined;
	}
	if (data === true) {
		// The SDK's typings lack it.
		const { Host } = globalThis as unknown as {
			readonly Host: { readonly Backlight: new () => { write(percent: number): void } };
		};
		const output = new Host.Backlight();
		return shownLight({ on: true, brightness: 100 }, ({ brightness }) => output.write(brightness));
	}
	const io = inBuild("embedded:io/pwm") as PwmClass;
	const light = openPwmLight({ ...(typeof data === "number" ? { pin: data } : data), io });
	light.on = true;
	return light;
};

/** Opens the screen that `config.screen` names, and previews if the build has them. */
export default (({ data: { display }, board, backlight }) => {
	const screen = openFace(new config.Screen({}), backlight ?? openBacklight(display?.backlight));
	const preview = inBuild<typeof openPreview>("src/screen/open-preview")?.(screen);
	Object.assign(board, { screen, ...(preview && { preview }) });
}) satisfies OpenMember;
