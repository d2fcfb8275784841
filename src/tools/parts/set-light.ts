import { describePart } from "../../hardware/kinds/describe-parts.js";
import { light as lightKind } from "../../hardware/kinds/light.js";
import { ACTS, boolean, defineTool, done, findPart, integer, optional, string } from "../define-tool.js";

export default defineTool({
	name: "self.light.set",
	title: "Set light",
	description:
		"Turn a light of the device on or off, dim it, or change its colour. A brightness above 0 or a colour also turns it on. Without any of them it is toggled.\n" +
		"self.get_device_status shows the names of the lights and what each can do.",
	annotations: ACTS,
	needs: ["lights"],
	input: {
		light: optional(string({ maxLength: 64, description: "The light's name, if the device has several" })),
		on: optional(boolean({ description: "true turns the light on, false turns it off" })),
		brightness: optional(integer({ minimum: 0, maximum: 100, description: "Percent of full brightness" })),
		color: optional(string({ maxLength: 16, description: "The colour as #rrggbb, hexadecimal" })),
	},
	check: ({ light: name, brightness, color }, { lights }) => {
		const light = findPart(lights, "light", name);
		if (brightness !== undefined && light.brightness === undefined) {
			throw new Error("brightness: this light cannot be dimmed");
		}
		if (color !== undefined && light.color === undefined) {
			throw new Error("color: this light has one colour only");
		}
	},
	run: ({ light: name, on, brightness, color }, { lights }) => {
		const light = findPart(lights, "light", name);
		const isToggled = brightness === undefined && color === undefined;
		const isOn = on ?? (isToggled ? !light.on : brightness !== 0);
		const rgb = color === undefined ? undefined : parseColor(color);
		if (!isOn) {
			light.on = false;
		}
		// Brightness and colour come first, so that a light that turns on never shows the old ones.
		if (brightness !== undefined && brightness > 0) {
			light.brightness = brightness;
		}
		if (rgb !== undefined) {
			light.color = rgb;
		}
		if (isOn) {
			light.on = true;
		}
		return done(describePart(lightKind, light));
	},
});

/** Reads a colour as a number, 0xRRGGBB. @throws Error if the text is not #rrggbb */
const parseColor = (text: string): number => {
	if (!/^#[0-9a-f]{6}$/i.test(text)) {
		throw new Error(`color: expected #rrggbb, not ${JSON.stringify(text)}`);
	}
	return Number.parseInt(text.slice(1), 16);
};
