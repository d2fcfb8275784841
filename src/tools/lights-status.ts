import type { Light } from "../hardware/light.js";
import { formatColor } from "./color.js";

/** The lights in the device's status. */
export function lightsStatus(lights: Readonly<Record<string, Light>>): object {
	return Object.fromEntries(
		Object.entries(lights).map(([name, { title, on, brightness, color, error }]) => [
			name,
			// JSON leaves out what is undefined.
			{ title, on, brightness, color: color === undefined ? undefined : formatColor(color), error },
		]),
	);
}
