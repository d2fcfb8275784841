import { inBuild } from "../platform/in-build.js";
import type { DeviceDefinition } from "./device.js";

/** The module that defines a device of one's own: a manifest names it so. */
const DEVICE = "device";

/** The device of the build; undefined without one. @throws TypeError if the module exports something else */
export const openDevice = (): DeviceDefinition | undefined => {
	const device = inBuild<DeviceDefinition>(DEVICE);
	if (device !== undefined && typeof device.parts !== "object") {
		throw new TypeError("the module device: expected export default device({ parts: { … } })");
	}
	return device;
};

/** @throws Error if the build lacks the module */
export const loadModule = <Export>(name: string): Export => {
	const module = inBuild<Export>(name);
	if (module === undefined) {
		throw new Error(`this build has no module ${name}: its manifest is not included`);
	}
	return module;
};

/** The I2C bus of the target: its pins, port and the like. @throws Error if it has none of this name */
export const busOf = (name: string): object => {
	// A bare chip has no provider of buses.
	const { I2C = {} } = (typeof device === "undefined" ? {} : device) as {
		readonly I2C?: Readonly<Record<string, object>>;
	};
	const bus = I2C[name];
	if (bus === undefined) {
		const have = Object.keys(I2C).join(", ") || "none";
		throw new Error(`bus: the target has ${have}, not ${JSON.stringify(name)}: name its pins, { data: 21, clock: 22 }`);
	}
	return bus;
};
