/** Makes JPEG files of a camera's pixels. Its code is `frame-jpeg.c`, for an ESP32 with a camera. */
export default Object.freeze({
	/**
	 * @param pixels RGB565, the high byte first
	 * @param quality 1 to 100
	 * @returns the file, outside the heap of XS
	 */
	encode(pixels: ArrayBuffer, width: number, height: number, quality: number): ArrayBuffer {
		return native("xs_framejpeg_encode").call(this, pixels, width, height, quality) as ArrayBuffer;
	},
});
