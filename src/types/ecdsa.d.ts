// A separate file because mcconfig needs it too: the SDK's typings lack these modules.

/** Elliptic curves. */
declare module "curve" {
	export default class Curve {
		constructor(name: "secp256r1");
		/** The order of the curve's base point. */
		readonly n: bigint;
	}
}

/** Points of elliptic curves. */
declare module "ecp" {
	export default class ECPoint {
		constructor(x: bigint, y: bigint);
	}
}

/** Signatures over elliptic curves. */
declare module "ecdsa" {
	import type Curve from "curve";
	import type ECPoint from "ecp";

	export default class ECDSA {
		/** @param key the public key */
		constructor(key: ECPoint, curve: Curve);
		/** @param signature r and s, as long as the curve's order each */
		verify(digest: ArrayBuffer, signature: ArrayBuffer): boolean;
	}
}
