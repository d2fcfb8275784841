// A separate file because mcconfig needs it too: the SDK's typings lack this module.

/** A touch sensor (ECMA-419 §13). */
declare module "embedded:sensor/Touch/FT6x06" {
	class FT6x06 {
		constructor(options: object);
		configure(options: { readonly threshold: number }): void;
		sample(): readonly object[] | undefined;
		close(): void;
	}
	export default FT6x06;
}
