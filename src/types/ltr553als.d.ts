// A separate file because mcconfig needs it too: the SDK's typings lack this module.

/** A sensor of light and proximity (ECMA-419 §13). */
declare module "embedded:sensor/AmbientLight-Proximity/LTR553ALS" {
	class LTR553ALS {
		constructor(options: { readonly sensor: object });
		sample(): { readonly lightmeter: { readonly illuminance: number } };
		close(): void;
	}
	export default LTR553ALS;
}
