import type { IncomingMessage } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { deviceIdOf } from "../../config/device-id.js";
import { isObject } from "../../firmware.js";
import { readJson } from "../../http/body.js";
import { HttpError } from "../../http/http-error.js";
import type { RequestLimits } from "../../http/limits.js";
import type { Middleware, Route } from "../../http/route.js";
import type { SourceCheck } from "../../http/source-check.js";
import type { Logger } from "../../log/log.js";
import type { DeviceKey } from "../device-key.js";
import { serverUrlOf } from "../device-request.js";
import { sendFirmware } from "../firmware/firmware-download.js";
import { DOWNLOAD_PATH, type FirmwareOffers } from "../firmware/firmware-offers.js";
import type { FirmwareUpdates } from "../firmware/firmware-updates.js";
import { backendBlocks, type DeviceAddresses, serverTime } from "./bootstrap-answer.js";
import { BindingRejected, type BindingRequest, type DeviceBindings, type PendingBinding } from "./device-bindings.js";

export interface BootstrapRoutesOptions {
	readonly bindings: DeviceBindings;
	readonly key: DeviceKey;
	readonly source: SourceCheck;
	readonly limits: RequestLimits;
	/** The network address of a request. */
	readonly addressOf: (request: IncomingMessage) => string;
	/** Whether a new device needs a token, or to be bound, to connect. */
	readonly needsBinding: () => boolean;
	readonly deviceAddresses: () => DeviceAddresses;
	/** The URL at which devices reach the gateway over HTTP. Default: as in their request. */
	readonly publicUrl?: string | undefined;
	readonly firmware: FirmwareOffers;
	readonly updates: FirmwareUpdates;
	readonly log: Logger;
}

/** The family's paths. */
export const BOOTSTRAP_PATHS = {
	ota: "/xiaozhi/ota",
	activate: "/xiaozhi/ota/activate",
	download: DOWNLOAD_PATH,
} as const;

const DEVICE_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;
const CLIENT_ID = /^[\x21-\x7e]{1,64}$/;

/** The system information of a device has about 1,000 bytes. */
const MAX_BODY_BYTES = 65_536;

/** Characters of a device's description of itself. */
const MAX_NAME = 64;

/** Most concurrent firmware downloads. */
const MAX_DOWNLOADS = 16;

/** The bootstrap routes, called "OTA" in the family. */
export class BootstrapRoutes {
	readonly #options: BootstrapRoutesOptions;
	#downloads = 0;

	constructor(options: BootstrapRoutesOptions) {
		this.#options = options;
	}

	/** Rejects requests with a foreign Host or Origin: these routes need no secret, so a website could call them. */
	readonly checkSource: Middleware = async (c, next) => {
		this.#options.source.check(c.env.incoming);
		await next();
	};

	/** `GET`, `POST /xiaozhi/ota/`: where to connect, the code to be bound with first, the time, newer firmware. */
	readonly ota: Route = async (c) => {
		const { incoming } = c.env;
		await this.#admit(incoming);
		const device = { ...identityOf(incoming), address: this.#options.addressOf(incoming) };
		const request = { ...device, ...systemOf(incoming, await readBody(incoming)) };
		const binding = await this.#bind(request);
		const url = this.#options.publicUrl?.replace(/\/+$/, "") ?? serverUrlOf(incoming);
		if (url === undefined) {
			throw new HttpError(400, "malformed", "Host header: expected a hostname and perhaps a port");
		}
		const access = { id: request.deviceId, token: typeof binding === "object" ? binding.token : binding };
		const blocks = backendBlocks(this.#options.deviceAddresses(), new URL(url).hostname, access);
		if (Object.keys(blocks).length === 0) {
			const problem = "no address that this device could connect to: see websocketAddress, websocketUrl";
			throw new HttpError(503, "busy", problem);
		}
		if (typeof binding === "object") {
			// py-xiaozhi does not ask again once it is bound.
			const { code, challenge } = binding;
			const activation = { message: `xs-mcp-gateway devices approve ${code}`, code, challenge };
			return c.json({ server_time: serverTime(), ...blocks, activation });
		}
		this.#options.updates.running(request.deviceId, request.version);
		const firmware = await this.#options.firmware.offer({ ...request, url }).catch((error: Error) => {
			this.#options.log.error({ err: error }, "cannot offer firmware");
			return undefined;
		});
		return c.json({ server_time: serverTime(), ...blocks, ...(firmware && { firmware }) });
	};

	/** `POST /xiaozhi/ota/activate`: 200 if the device is bound, 202 if it waits, 404 if it needs a new code. */
	readonly activate: Route = async (c) => {
		const { incoming } = c.env;
		await this.#admit(incoming);
		const identity = identityOf(incoming);
		await readBody(incoming);
		if (this.#options.bindings.tokenOf(identity) !== undefined) {
			return c.json({ message: "bound" });
		}
		if (this.#options.bindings.pendingOf(identity) !== undefined) {
			return c.json({ message: "awaiting approval" }, 202);
		}
		throw new HttpError(404, "not-found", "no valid code for this device: request a new one");
	};

	/** `GET /xiaozhi/ota/download/FILE?device=ID&key=KEY`: firmware, for devices that were given the URL. It may hold secrets. */
	readonly download: Route = async (c) => {
		await this.#admit(c.env.incoming);
		const { firmware, key } = this.#options;
		const file = c.req.param("file") ?? "";
		const device = c.req.query("device") ?? "";
		if (firmware.folder === undefined || !key.verify(c.req.query("key") ?? "", "firmware", file, device)) {
			throw noFirmware();
		}
		if (this.#downloads >= MAX_DOWNLOADS) {
			throw new HttpError(503, "busy", `too many downloads (limit ${MAX_DOWNLOADS})`, { "Retry-After": "30" });
		}
		this.#downloads += 1;
		try {
			const image = await firmware.folder.open(file).catch(() => {
				throw noFirmware();
			});
			await sendFirmware(image, c.env.outgoing).finally(() => image.close());
			if (c.env.outgoing.writableFinished) {
				this.#options.updates.downloaded(device);
			}
		} finally {
			this.#downloads -= 1;
		}
		return RESPONSE_ALREADY_SENT;
	};

	async #admit(request: IncomingMessage): Promise<void> {
		await this.#options.limits.request(this.#options.addressOf(request));
	}

	/** The device's token, or its pending code; undefined if it needs neither. */
	async #bind(request: BindingRequest): Promise<string | PendingBinding | undefined> {
		const { bindings, needsBinding } = this.#options;
		const token = bindings.tokenOf(request);
		if (token !== undefined || !needsBinding()) {
			return token;
		}
		try {
			return await bindings.request(request);
		} catch (error) {
			if (error instanceof BindingRejected) {
				throw error.reason === "closed"
					? new HttpError(403, "token", error.message)
					: new HttpError(503, "busy", error.message, { "Retry-After": "60" });
			}
			throw error;
		}
	}
}

/** @throws HttpError (400) */
function identityOf({ headers }: IncomingMessage): { deviceId: string; clientId: string } {
	const { "device-id": deviceId = "", "client-id": clientId = "" } = headers;
	if (typeof deviceId !== "string" || !DEVICE_ID.test(deviceId)) {
		throw new HttpError(400, "malformed", 'Device-Id header: expected up to 64 letters, digits, "_", ".", ":" and "-"');
	}
	if (typeof clientId !== "string" || !CLIENT_ID.test(clientId)) {
		throw new HttpError(400, "malformed", "Client-Id header: expected a UUID");
	}
	return { deviceId: deviceIdOf(deviceId), clientId };
}

/** The JSON body of a request; undefined without a body, as in GET. Rejects with HttpError. */
async function readBody(request: IncomingMessage): Promise<unknown> {
	const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
	return length === "0" && encoding === undefined ? undefined : await readJson(request, MAX_BODY_BYTES);
}

/** A device's model and version: from the body, else from `User-Agent` as the C++ firmware sends it: MODEL/VERSION. */
function systemOf({ headers }: IncomingMessage, body: unknown): { board: string; version: string } {
	const { board, application } = isObject(body) ? body : {};
	const [model, version] = (headers["user-agent"] ?? "").split("/");
	return {
		board: nameOf(isObject(board) ? board.type : undefined) ?? nameOf(model) ?? "",
		version: nameOf(isObject(application) ? application.version : undefined) ?? nameOf(version) ?? "",
	};
}

function nameOf(value: unknown): string | undefined {
	return typeof value === "string" && value.length > 0 && value.length <= MAX_NAME ? value : undefined;
}

function noFirmware(): HttpError {
	return new HttpError(404, "not-found", "firmware not found");
}
