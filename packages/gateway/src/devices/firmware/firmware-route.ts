import * as z from "zod";
import { hasUserTools } from "../../config/access.js";
import type { RunningGateway } from "../../gateway.js";
import { readJsonAs } from "../../http/body.js";
import { HttpError } from "../../http/http-error.js";
import { allow, deviceOf } from "../../http/route.js";
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
