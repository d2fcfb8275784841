import type { Light, Lights } from "../hardware/light.js";

/** Red, as on devices that record. */
const COLOR = 0xff0000;

/** Shows by a board's first light that the device listens. */
export class ListeningLight {
	private readonly light: Light | undefined;
	/** How the light was before; undefined while the device does not listen. */
	private before: { readonly on: boolean; readonly color: number | undefined } | undefined;

	constructor(lights: Lights = {}) {
		this.light = Object.values(lights).find(({ error }) => error === undefined);
	}

	show(isListening: boolean): void {
		const light = this.light;
		if (light === undefined) {
			return;
		}
		if (isListening) {
			const { on, color } = light;
			this.before = { on, color };
			set(light, { on: true, color: color === undefined ? undefined : COLOR });
		} else if (this.before !== undefined) {
			// A color that was set meanwhile stays.
			if (light.on && (light.color === undefined || light.color === COLOR)) {
				set(light, this.before);
			}
			this.before = undefined;
		}
	}
}

const set = (light: Light, { on, color }: { readonly on: boolean; readonly color: number | undefined }): void => {
	if (color !== undefined) {
		light.color = color;
	}
	light.on = on;
};
