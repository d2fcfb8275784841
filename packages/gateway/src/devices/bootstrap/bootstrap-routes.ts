import type { IncomingMessage } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { deviceIdOf } from "../../config/access.js";
import type { RunningGateway } from "../../gateway.js";
import { GatewayError } from "../../gateway-error.js";
import {
	allow,
	allowOrigin,
	type HttpEnv,
	type Middleware,
	needsOperator,
	type Route,
	readJson,
} from "../../http/route.js";
import { makeSourceCheck } from "../../oauth/request-guard.js";
import { clients } from "../../transports/plugin.js";
import { serverUrlOf } from "../admission.js";
import { sendFirmware } from "../firmware/firmware-route.js";
import { firmware } from "../firmware/plugin.js";
import { devices } from "../plugin.js";
import { BOOTSTRAP_PATHS, backendBlocks } from "./bootstrap-answer.js";
import { type DeviceBindings, makeBindings, type PendingBinding } from "./device-bindings.js";

const DEVICE_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;
const CLIENT_ID = /^[\x21-\x7e]{1,64}$/;

/** The system information of a device has about 1,000 bytes. */
const MAX_BODY_BYTES = 65_536;

/** Characters of a device's description of itself. */
const MAX_NAME = 64;

/** Most concurrent firmware downloads. */
const MAX_DOWNLOADS = 16;

/** Serves the bootstrap, and the devices that wait to be bound. */
export function openBootstrap(gateway: RunningGateway): DeviceBindings {
	const { settings, urls, routes } = gateway;
	const bindings = makeBindings(gateway);
	addBootstrapRoutes(gateway, bindings);
	addBindingRoutes(routes, bindings);
	gateway.on("started", () => {
		if (settings.bootstrap !== "closed") {
			urls.bootstrap = new URL(`${BOOTSTRAP_PATHS.ota}/`, urls.clients).href;
		}
	});
	return bindings;
}

/**
 * Serves the bootstrap, called "OTA" in the family. These routes need no secret, so requests with a foreign Host or Origin are
 * rejected: a website could call them.
 *
 * - `GET`, `POST /xiaozhi/ota/`: where to connect, the code to be bound with first, the time, newer firmware.
 * - `POST /xiaozhi/ota/activate`: 200 if the device is bound, 202 if it waits, 404 if it needs a new code.
 * - `GET /xiaozhi/ota/download/FILE?device=ID&key=KEY`: firmware, for devices that were given the URL. It may hold secrets.
 */
function addBootstrapRoutes(gateway: RunningGateway, bindings: DeviceBindings): void {
	const { deviceRoutes: app, settings, updates, key, log } = gateway;
	const { publicUrl, httpAddress, websocketAddress, mqttAddress, allowedOrigins } = settings;
	const { guard, limits } = gateway.use(clients);
	const { guards, listeners } = gateway.use(devices);
	const firmwareOffers = gateway.use(firmware);
	const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
	const hosts = [...settings.allowedHosts, ...publicHosts];
	const checkSource = makeSourceCheck([httpAddress, websocketAddress, mqttAddress], hosts, allowedOrigins);
	/** Whether a new device needs a token, or to be bound, to connect. */
	const needsBinding = (): boolean => settings.bootstrap !== "open" || guards.some(({ needsToken }) => needsToken());
	const addressOf = (request: IncomingMessage): string => guard.addressOf(request);
	const admit = (request: IncomingMessage) => limits.request(addressOf(request));
	const rejectForeign: Middleware = async (c, next) => {
		checkSource(c.env.incoming);
		await next();
	};
	const ota: Route = async (c) => {
		const { incoming } = c.env;
		await admit(incoming);
		const device = { ...identityOf(incoming), address: addressOf(incoming) };
		const body = await readBody(incoming);
		const { board, application } = isObject(body) ? body : {};
		// From the body, else from `User-Agent` as the C++ firmware sends it: MODEL/VERSION.
		const [model, release] = (incoming.headers["user-agent"] ?? "").split("/");
		const request = {
			...device,
			board: nameOf(isObject(board) ? board.type : undefined) ?? nameOf(model) ?? "",
			version: nameOf(isObject(application) ? application.version : undefined) ?? nameOf(release) ?? "",
		};
		const token = bindings.tokenOf(request);
		const isBound = token !== undefined || !needsBinding();
		const binding = isBound ? token : await bindings.request(request);
		const url = publicUrl?.replace(/\/+$/, "") ?? serverUrlOf(incoming);
		if (url === undefined) {
			throw new GatewayError("malformed", "Host header: expected a hostname and perhaps a port");
		}
		const addresses = {
			websocket: settings.websocketUrl ?? listeners.websocket,
			mqtt: settings.mqttEndpoint ?? listeners.mqtt,
		};
		const access = {
			id: request.deviceId,
			token: typeof binding === "object" ? bindings.futureTokenOf(binding) : binding,
		};
		const blocks = backendBlocks(addresses, new URL(url).hostname, access);
		if (Object.keys(blocks).length === 0) {
			const problem = "no address that this device could connect to: see websocketAddress, websocketUrl";
			throw new GatewayError("busy", problem);
		}
		// Devices of the family set their clocks by the time.
		const now = new Date();
		const time = { timestamp: now.getTime(), timezone_offset: 0 - now.getTimezoneOffset() };
		const answer = { server_time: time, ...blocks };
		if (typeof binding === "object") {
			// py-xiaozhi does not ask again once it is bound.
			const { code, challenge } = binding;
			const activation = { message: `xs-mcp-gateway devices approve ${code}`, code, challenge };
			return c.json({ ...answer, activation });
		}
		updates.running(request.deviceId, request.version);
		const offer = await firmwareOffers?.offer({ ...request, url }).catch((error: Error) => {
			log.error({ err: error }, "cannot offer firmware");
			return undefined;
		});
		return c.json({ ...answer, ...(offer && { firmware: offer }) });
	};

	const activate: Route = async (c) => {
		const { incoming } = c.env;
		await admit(incoming);
		const identity = identityOf(incoming);
		await readBody(incoming);
		if (bindings.tokenOf(identity) !== undefined) {
			return c.json({ message: "bound" });
		}
		if (bindings.pendingOf(identity) !== undefined) {
			return c.json({ message: "awaiting approval" }, 202);
		}
		throw new GatewayError("not-found", "no valid code for this device: request a new one");
	};

	let downloads = 0;
	const download: Route = async (c) => {
		await admit(c.env.incoming);
		const file = c.req.param("file") ?? "";
		const device = c.req.query("device") ?? "";
		if (firmwareOffers === undefined || !key.verify(c.req.query("key") ?? "", "firmware", file, device)) {
			throw noFirmware();
		}
		if (downloads >= MAX_DOWNLOADS) {
			throw new GatewayError("busy", `too many downloads (limit ${MAX_DOWNLOADS})`, {
				headers: { "Retry-After": "30" },
			});
		}
		downloads += 1;
		try {
			const image = await firmwareOffers.open(file).catch(() => {
				throw noFirmware();
			});
			await sendFirmware(image, c.env.outgoing).finally(() => image.close());
			if (c.env.outgoing.writableFinished) {
				updates.downloaded(device);
			}
		} finally {
			downloads -= 1;
		}
		return RESPONSE_ALREADY_SENT;
	};
	app.use(`${BOOTSTRAP_PATHS.ota}/*`, rejectForeign, allowOrigin);
	for (const path of [BOOTSTRAP_PATHS.ota, `${BOOTSTRAP_PATHS.ota}/`]) {
		app.all(path, allow("GET", "POST"), ota);
	}
	app.all(BOOTSTRAP_PATHS.activate, allow("POST"), activate);
	app.all(`${BOOTSTRAP_PATHS.download}/:file`, allow("GET"), download);
}

/** @throws GatewayError (400) */
function identityOf({ headers }: IncomingMessage): { deviceId: string; clientId: string } {
	const { "device-id": deviceId = "", "client-id": clientId = "" } = headers;
	if (typeof deviceId !== "string" || !DEVICE_ID.test(deviceId)) {
		throw new GatewayError("malformed", 'Device-Id header: expected up to 64 letters, digits, "_", ".", ":" and "-"');
	}
	if (typeof clientId !== "string" || !CLIENT_ID.test(clientId)) {
		throw new GatewayError("malformed", "Client-Id header: expected a UUID");
	}
	return { deviceId: deviceIdOf(deviceId), clientId };
}

/** The JSON body of a request; undefined without a body, as in GET. Rejects with GatewayError. */
async function readBody(request: IncomingMessage): Promise<unknown> {
	const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
	return length === "0" && encoding === undefined ? undefined : await readJson(request, MAX_BODY_BYTES);
}

function nameOf(value: unknown): string | undefined {
	return typeof value === "string" && value.length > 0 && value.length <= MAX_NAME ? value : undefined;
}

function noFirmware(): GatewayError {
	return new GatewayError("not-found", "firmware not found");
}

/**
 * Serves the devices that wait to be bound, to operators.
 *
 * - `GET /bindings` lists them.
 * - `POST /bindings/CODE` binds the device that shows this code, `DELETE /bindings/CODE` rejects it.
 */
function addBindingRoutes(app: Hono<HttpEnv>, bindings: DeviceBindings): void {
	app.use("/bindings/*", needsOperator);
	app.all("/bindings", allow("GET"), (c) => c.json({ pending: bindings.pending.map(bindingSummary) }));
	app.all("/bindings/:code", allow("POST", "DELETE"));
	app.post("/bindings/:code", async (c) => {
		const approved = await bindings.approve(c.req.param("code"));
		if (approved === undefined) {
			throw noBinding();
		}
		return c.json({ device: approved.deviceId });
	});
	app.delete("/bindings/:code", async (c) => {
		if (!(await bindings.reject(c.req.param("code")))) {
			throw noBinding();
		}
		return c.body(null, 204);
	});
}

/** A device that waits to be bound, as `GET /bindings` describes it. */
export type BindingSummary = ReturnType<typeof bindingSummary>;

/** A pending binding. Its code expires at an ISO 8601 time. */
export function bindingSummary({ code, deviceId, board, version, address, expires }: PendingBinding) {
	return { code, device: deviceId, board, version, address, expires: new Date(expires).toISOString() };
}

function noBinding(): GatewayError {
	return new GatewayError("not-found", "unknown or expired code");
}
