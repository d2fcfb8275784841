import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { sendFirmware } from "../devices/firmware/firmware-download.js";
import type { FlashImages } from "../devices/firmware/flash-images.js";
import { HttpError } from "../http/http-error.js";
import type { Route } from "../http/route.js";

/** `GET /console/firmware`: the images that a board can be flashed with. */
export function listImages(images: FlashImages | undefined): Route {
	return async (c) => {
		try {
			return c.json({ images: (await images?.list()) ?? [] });
		} catch (error) {
			throw new HttpError(503, "busy", `cannot read firmwareFolder: ${(error as NodeJS.ErrnoException).code}`);
		}
	};
}

/** `GET /console/firmware/BOARD/FILE`: a file of an image. */
export function sendImage(images: FlashImages | undefined): Route {
	return async (c) => {
		const file = await images?.open(c.req.param("board") ?? "", c.req.param("file") ?? "");
		if (file === undefined) {
			throw new HttpError(404, "not-found", "no such file of an image");
		}
		try {
			await sendFirmware(file, c.env.outgoing);
		} finally {
			await file.close();
		}
		return RESPONSE_ALREADY_SENT;
	};
}
