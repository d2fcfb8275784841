/** Image input (ECMA-419, 3rd edition). The SDK has no typings for it. */
declare module "embedded:io/image/in/camera" {
	import type { ImageCameraOptions } from "../hardware/drivers/image-camera.js";

	const Camera: ImageCameraOptions["io"];
	export default Camera;
}
