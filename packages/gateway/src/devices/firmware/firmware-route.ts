import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { hasUserTools } from "../../config/access.js";
import type { RunningGateway } from "../../gateway.js";
import { HttpError } from "../../http/http-error.js";
import { allow, deviceOf, readJsonAs } from "../../http/route.js";
import type { FirmwareOffers } from "./firmware-offers.js";

const FIRMWARE_REQUEST = z.strictObject({ version: z.string().min(1).max(64).optional() });

/**
 * Serves `POST /devices/NAME/firmware` with `{"version": …}` or `{}`: the parameters of the device's own install tool, for a
 * client that may call it. The image may hold secrets. `{}` in the answer: the folder has nothing newer.
 */
export function addFirmwareRoute(gateway: RunningGateway, firmware: FirmwareOffers | undefined): void {
	const { routes: app, servers, settings } = gateway;
	app.all("/devices/:device/firmware", allow("POST"), async (c) => {
		const server = deviceOf(c, servers);
		const { alias, id, board, connection } = server;
		if (!hasUserTools(c.var.admission.access, id)) {
			const how = "a token created with --allow-user-tools, or the setting userTools";
			throw new HttpError(403, "token", `firmware of ${alias} requires ${how}`);
		}
		const wanted = await readJsonAs(FIRMWARE_REQUEST, "body", c.env.incoming, settings.maxBodyBytes);
		if (firmware === undefined) {
			throw new HttpError(404, "not-found", "the gateway has no firmware (setting firmwareFolder)");
		}
		const url = connection && gateway.urlFor(connection.identity);
		if (url === undefined) {
			const problem = connection ? "does not know the gateway's address: see publicUrl" : "is offline";
			throw new HttpError(409, "busy", `${alias} ${problem}`);
		}
		const { name, version } = board;
		const offer = await firmware.offer({ deviceId: id, board: name, version, url, wanted: wanted.version });
		if (offer === undefined && wanted.version !== undefined) {
			throw new HttpError(404, "not-found", `no firmware ${wanted.version} for ${name} in firmwareFolder`);
		}
		return c.json(offer ?? {});
	});
}

/**
 * Opens a file for reading. Rejects if it is not a regular file: a pipe or a device could block one of the few file
 * threads forever.
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
