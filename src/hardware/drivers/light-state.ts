import type { Light } from "../kinds/light.js";

/** A light whose changes are shown at once. */
export type ShownLight = Pick<Light, "on" | "color"> & { brightness: number; close(): void };

/**
 * Makes a light.
 *
 * @param state initial values. A light of a single colour has no `color`
 * @param show applies the values to the light
 */
export const shownLight = <State extends Omit<ShownLight, "close">>(
	state: State,
	show: (state: State) => void,
	close = (): void => {},
) => {
	const light = { close };
	for (const name of Object.keys(state)) {
		Object.defineProperty(light, name, {
			get: () => state[name as keyof State],
			set(value) {
				Object.assign(state, { [name]: value });
				show(state);
			},
		});
	}
	return light as State & typeof light;
};
