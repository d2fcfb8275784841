// A separate file because mcconfig needs it too: the SDK's typings lack its drivers.

/** A driver of a sensor (ECMA-419 §13). What its samples have, the class of the sensor says. */
declare module "embedded:sensor/*" {
	class Driver {
		constructor(options: { readonly sensor: object });
		sample(): object | undefined;
		close(): void;
	}
	export default Driver;
}

/** A driver of a real-time clock (ECMA-419 §14.1). */
declare module "embedded:RTC/*" {
	class Driver {
		constructor(options: { readonly clock: object });
		/** Milliseconds since 1970, UTC; undefined if it has stood still. */
		time: number | undefined;
		close(): void;
	}
	export default Driver;
}

/** A driver of an expander, which provides pins (ECMA-419 §16). */
declare module "embedded:io/provider/*" {
	import type { DigitalClass } from "../hardware/parts/part.js";

	class Driver {
		constructor(options: { readonly i2c: object });
		readonly Digital: DigitalClass;
		close(): void;
	}
	export default Driver;
}
