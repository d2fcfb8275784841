import jpeg from "jpeg-js";

/** A baseline JPEG of more than a megabyte, which any viewer shows: a red half and a blue half, under noise. */
export function largeJpeg(width = 1_600, height = 1_200): Buffer {
	const data = Buffer.alloc(width * height * 4, 255);
	let noise = 1;
	for (let at = 0; at < data.length; at += 4) {
		noise = (noise * 1_103_515_245 + 12_345) % 2_147_483_648;
		const isLeft = (at / 4) % width < width / 2;
		const grain = (noise >> 16) & 63;
		data[at] = (isLeft ? 192 : 0) + grain;
		data[at + 1] = grain;
		data[at + 2] = (isLeft ? 0 : 192) + grain;
	}
	return jpeg.encode({ data, width, height }, 95).data;
}
