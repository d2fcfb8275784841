import type { Light } from "../hardware/light.js";
import { formatColor } from "./color.js";

/** The lights in the device's status. */
export function lightsStatus(lights: Readonly<Record<string, Light>>): object {
	return Object.fromEntries(Object.entries(lights).map(([name, light]) => [name, describeLight(light)]));
}

/** How a light is. JSON leaves out what is undefined. */
export function describeLight({ title, on, brightness, color, error }: Light): object {
	return { title, on, brightness, color: color === undefined ? undefined : formatColor(color), error };
}
