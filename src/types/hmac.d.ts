// A separate file because mcconfig needs it too: the SDK's typings lack this module.

/** Message authentication codes. */
declare module "hmac" {
	import type { Digest } from "crypt";

	export default class HMAC {
		constructor(digest: Digest, key: ArrayBuffer);
		process(message: ArrayBuffer): ArrayBuffer;
	}
}
