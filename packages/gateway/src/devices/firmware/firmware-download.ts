import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/**
 * Opens a file for reading. Rejects if the path is not that of a regular file, such as of a pipe or a device, which could block one
 * of the few file threads for good.
 */
export async function openFile(path: string): Promise<FileHandle> {
	const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	if (!(await handle.stat()).isFile()) {
		await handle.close();
		throw new Error(`${path}: not a file`);
	}
	return handle;
}

/** Milliseconds without progress of a download after which the connection is cut. */
const STALL_TIME = 30_000;

/**
 * Sends an image, whose length must be known, to Node's response. Settles when it is sent, or the device is disconnected.
 * Rejects if the image cannot be read.
 */
export async function sendFirmware(image: FileHandle, response: ServerResponse, stallTime = STALL_TIME): Promise<void> {
	const { size } = await image.stat();
	response.setTimeout(stallTime, () => response.destroy());
	response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": size });
	try {
		await pipeline(image.createReadStream({ autoClose: false }), response);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") {
			throw error;
		}
	}
}
