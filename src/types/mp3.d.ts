// The decoder of MP3. A separate file because mcconfig needs it too: the SDK has no typings for this module.
declare module "mp3/decode" {
	import type { Mp3Decoder } from "../sound/mp3-reader.js";

	const MP3: new () => Mp3Decoder;
	export default MP3;
}
