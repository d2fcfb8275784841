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
