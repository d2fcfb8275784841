import config from "mc/config";
import { inBuild } from "../../platform/in-build.js";
import { openFace } from "../../screen/open-face.js";
import type openPreview from "../../screen/open-preview.js";
import type { DisplayData, OpenMember } from "../board-data.js";
import type { Backlight } from "../hardware.js";
import { type BacklightOutput, hostBacklight } from "./host-backlight.js";
import type openPwmLight from "./open-pwm-light.js";

/** Opens a backlight: that of the SDK's target, or one on a pin. @returns undefined without one */
const openBacklight = (data: DisplayData["backlight"]): Backlight | undefined => {
	if (data === true) {
		// The SDK's typings lack it.
		const { Host } = globalThis as unknown as { readonly Host: { readonly Backlight: new () => BacklightOutput } };
		return hostBacklight(new Host.Backlight());
	}
	const openLight = inBuild<typeof openPwmLight>("src/hardware/drivers/open-pwm-light");
	const light = data === undefined ? undefined : openLight?.(typeof data === "number" ? { pin: data } : data);
	if (light !== undefined) {
		light.on = true;
	}
	return light;
};

/** Opens the screen that `config.screen` names, and previews if the build has them. */
export default (({ data: { display }, board, closing, backlight }) => {
	const screen = openFace(new config.Screen({}), backlight ?? openBacklight(display?.backlight));
	const preview = inBuild<typeof openPreview>("src/screen/open-preview")?.(screen);
	Object.assign(board, { screen, ...(preview && { preview }) });
	closing.push(...(preview ? [preview] : []), screen);
}) satisfies OpenMember;
