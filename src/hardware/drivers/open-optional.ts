import { findDriver } from "../../platform/in-build.js";
import type { BoardServices } from "../board-data.js";
import type { SmBusRecord } from "./bus-chip.js";

/** Opens an optional part. Returns undefined, and logs that, if it fails. @param name for the line of the log */
export const openOptional = <Part>(log: BoardServices["log"], name: string, open: () => Part): Part | undefined => {
	try {
		return open();
	} catch (error) {
		log(`${name} not opened: ${String(error)}`);
		return undefined;
	}
};

/** The bus that the board's own chips are on. */
export const boardBus = (io: "I2C" | "SMBus" = "SMBus"): SmBusRecord => {
	// The SDK's typings lack these members.
	const { I2C, io: classes } = device as unknown as {
		readonly I2C: { readonly default: object; readonly internal?: object };
		readonly io: Readonly<Record<typeof io, SmBusRecord["io"]>>;
	};
	return { ...(I2C.internal ?? I2C.default), io: classes[io] };
};

/** The class of a chip: the SDK's driver of this name, or the one that the SDK's target has, `device.sensor.Touch`. */
export const chipClass = <Class>(driver: string | undefined, kind: "peripheral" | "sensor", name: string): Class => {
	const target = device as unknown as Readonly<Record<typeof kind, Readonly<Record<string, Class>> | undefined>>;
	return (driver === undefined ? target[kind]?.[name] : findDriver<Class>(driver)) as Class;
};
