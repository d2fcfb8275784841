import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { etag } from "hono/etag";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { SERVER_INFO } from "./catalog/tool-hints.js";
import { listenAt, publicOrigin, readTlsFiles, urlAt } from "./config/listen-address.js";
import type { Configuration } from "./config/settings.js";
import { urlsForDevices } from "./devices/bootstrap/bootstrap-answer.js";
import type { GatewayUrls, RunningGateway } from "./gateway.js";
import { GatewayError } from "./gateway-error.js";
import { history } from "./history/plugin.js";
import { closeServer, createClientServer, listenOn, makeRequestListener } from "./http/listener.js";
import { deviceBody, makeRejectionReport, type RejectionReport } from "./http/rejections.js";
import {
	allowOrigin,
	answerCors,
	checkMethod,
	type HttpEnv,
	type Middleware,
	makeLimits,
	type RequestLimits,
	readJson,
	setHeaders,
} from "./http/route.js";
import { RequestGuard } from "./oauth/request-guard.js";
import { openSignIn, type SignIn } from "./oauth/sign-in.js";
import { addSignIn } from "./oauth/sign-in-routes.js";
import { HttpEndpoint } from "./transports/http-endpoint.js";
import { GATEWAY_DESCRIPTION } from "./version.js";

/** The path of MCP, and the alias or id of the only server. A target may be a whole URL (RFC 9112 §3.2.2). */
const MCP_PATH = /^(?:https?:\/\/[^/?#]*)?\/mcp(?:\/|\/([^/?#]+)\/?)?(?:\?|$)/;

/** Milliseconds for the last answers to be sent when the server closes. */
const FLUSH_TIME = 500;

/** The clients of a gateway over HTTP. */
export interface Clients {
	readonly endpoint: HttpEndpoint;
	readonly guard: RequestGuard;
	readonly rejections: RejectionReport;
	/** Rate limits of devices' requests over HTTP. */
	readonly limits: RequestLimits;
}

/** Serves clients over HTTP, and devices on the same port, as soon as the gateway listens. */
export function serveClients(gateway: RunningGateway): Clients {
	const { settings, log, metrics, urls, key } = gateway;
	const { httpAddress: address, httpPort: port } = settings;
	const signIn = openSignIn(gateway);
	const guard = new RequestGuard(gateway, signIn);
	const addressOf = (request: IncomingMessage): string => guard.addressOf(request);
	const endpoint = new HttpEndpoint(gateway, { ...settings, sessionKey: key.derive("client-session"), addressOf });
	metrics.add("sessions", "Sessions of clients (revisions up to 2025-11-25)", () => endpoint.clients.length);
	const rejections = makeRejectionReport(gateway, addressOf);
	gateway.deviceRoutes.onError((error, c) => rejections.answer(error, c, deviceBody));
	const clients = { endpoint, guard, rejections, limits: makeLimits(settings) };
	let server: Server | undefined;
	gateway.on("listen", async () => {
		const files = readTlsFiles("http", settings);
		const tls = files?.options;
		const serveOthers = makeRequestListener(createApp(gateway, clients, signIn), rejections);
		const onRequest = serveRequests(gateway, clients, serveOthers);
		const listening = createClientServer(onRequest, rejections, log, tls);
		const onError = (err: Error): void => log.error({ err }, "cannot accept clients");
		const actual = await listenAt("http", port, () => listenOn(listening, { host: address, port }, onError));
		server = listening;
		gateway.on("tick", () => files?.renew(listening, log));
		urls.clients = `${urlAt(tls ? "https" : "http", address, actual)}/mcp`;
	});
	gateway.on("tick", () => guard.recheck());
	gateway.on("stop", () => {
		endpoint.stop();
		server?.close();
	});
	gateway.on("close", async () => {
		await endpoint.close();
		await (server && closeServer(server, FLUSH_TIME));
	});
	return clients;
}

/**
 * Serves MCP itself, and passes every other request to the app, whose middleware would take a tenth of the CPU of a call.
 */
function serveRequests(
	{ settings, urls }: RunningGateway,
	{ endpoint, guard, rejections }: Clients,
	serveOthers: RequestListener,
): RequestListener {
	const serve = async (incoming: IncomingMessage, outgoing: ServerResponse, name: string): Promise<void> => {
		try {
			guard.checkSource(incoming);
			if (incoming.headers.origin !== undefined && answerCors(incoming, outgoing)) {
				return;
			}
			if (incoming.headers.upgrade !== undefined) {
				rejectWebSocket(incoming, urls, settings);
			}
			const { access, grant } = await guard.admit(incoming, outgoing);
			let body: unknown;
			if (incoming.method === "POST") {
				body = await readJson(incoming, settings.maxBodyBytes);
			} else {
				checkMethod(incoming.method, "GET", "POST", "DELETE");
			}
			const server = name === "" ? undefined : decodeURIComponent(name);
			const lacksScope = grant && ((scope: string) => guard.lacksScope(incoming, scope));
			await endpoint.handle(incoming, outgoing, { access, server, body, lacksScope });
		} catch (error) {
			await rejections.answerMcp(error as Error, { incoming, outgoing });
		}
	};
	const hasCard = publicOrigin(settings.publicUrl) !== undefined;
	return (incoming, outgoing) => {
		const path = MCP_PATH.exec(incoming.url ?? "");
		const name = path?.[1] ?? "";
		const isCard = hasCard && `/mcp/${name}` === CARD_PATH && /^(?:GET|OPTIONS)$/.test(incoming.method ?? "");
		// The app rejects a path that decoding would change.
		if (path === null || isCard || (name !== "" && !isAsServed(name))) {
			serveOthers(incoming, outgoing);
		} else {
			serve(incoming, outgoing, name).catch(() => outgoing.destroy());
		}
	};
}

/** Whether a name in a path escapes reserved characters only: ":" as "%3A", but not "a" as "%61". */
function isAsServed(name: string): boolean {
	try {
		return decodeURI(name) === name;
	} catch {
		return false;
	}
}

/** Everything that the gateway serves over HTTP, except MCP. Its plugins have added their routes. */
function createApp(gateway: RunningGateway, clients: Clients, signIn: SignIn | undefined): Hono<HttpEnv> {
	const { guard, rejections } = clients;
	const { settings } = gateway;
	const app = new Hono<HttpEnv>();
	app.onError((error, c) => rejections.answer(error, c));
	app.notFound(notFound);

	app.use(setHeaders);
	app.route("/", gateway.deviceRoutes);
	const origin = publicOrigin(settings.publicUrl);
	if (origin !== undefined) {
		addServerCard(app, origin, guard);
	}
	app.use(async (c, next) => {
		const { incoming } = c.env;
		guard.checkSource(incoming);
		// A proxy that lets some paths through must see the one that is served: `/mcp/%2e%2e/devices` is not `/devices`.
		const [path] = (incoming.url ?? "").split(/[?#]/);
		if (path?.startsWith("/") && path !== c.req.path) {
			notFound();
		}
		rejectWebSocket(incoming, gateway.urls, settings);
		await next();
	}, allowOrigin);
	if (signIn !== undefined) {
		addSignIn(app, gateway, clients, signIn);
	}
	// Clients without a token look for OAuth here: after 401 they would keep looking; 404 means that the gateway does not
	// use it.
	app.all("/.well-known/*", notFound);
	app.route("/", gateway.publicRoutes);

	const { audit } = gateway.use(history);
	app.use(async (c, next) => {
		c.set("admission", await guard.admit(c.env.incoming, c.env.outgoing));
		await next();
	});
	app.use(async (c, next) => {
		await next();
		// Changes over HTTP, including rejected ones.
		if (isChange(c)) {
			const { principal } = c.var.admission.access;
			audit?.requested(principal, `${c.req.method} ${c.req.path}`, c.res.status, c.var.change);
		}
	}, rejectChanges);
	app.route("/", gateway.routes);
	return app;
}

/** Refuses a WebSocket on this port. A device with this port in its URL would get a page instead, and no log would say why. */
function rejectWebSocket({ headers }: IncomingMessage, urls: GatewayUrls, settings: Configuration): void {
	if (headers.upgrade?.toLowerCase() === "websocket") {
		const { websocket, mqtt } = urlsForDevices(urls, settings);
		const known = [websocket, mqtt].filter((url) => url !== undefined).join(" or ") || "the broker";
		throw new GatewayError("not-found", `no WebSocket at this port: devices connect to ${known}`);
	}
}

const rejectChanges: Middleware = async (c, next) => {
	if (c.var.admission.access.readOnly && isChange(c)) {
		throw new GatewayError("forbidden", "this token is read-only");
	}
	await next();
};

/** Whether a request changes something of the gateway. `/console/` is a client's own session. */
function isChange({ req }: Context<HttpEnv>): boolean {
	return req.method !== "GET" && !req.path.startsWith("/console/");
}

function notFound(): never {
	throw new GatewayError("not-found", "not found");
}

/** The media types of a card, and of the catalog that leads to it. */
const CARD_TYPE = "application/mcp-server-card+json";
const CATALOG_TYPE = "application/ai-catalog+json";

const CARD_PATH = "/mcp/server-card";

/** Seconds for which a card may be cached. */
const MAX_AGE = 3_600;

/** The gateway as clients find it before they connect: a server card (SEP-2127). It names no device. */
function serverCard(origin: string): object {
	const { name, title, version, icons } = SERVER_INFO;
	const host = new URL(origin).hostname.replace(/[[\]]/g, "");
	// The reverse-DNS form of the host, unless it is an IP address.
	const prefix = isIP(host) === 0 ? host.split(".").reverse().join(".") : host.replaceAll(":", "-");
	return {
		$schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		name: `${prefix}/${name}`,
		version,
		title,
		description: GATEWAY_DESCRIPTION,
		icons,
		remotes: [
			{
				type: "streamable-http",
				url: `${origin}/mcp`,
				supportedProtocolVersions: [...new Set([REVISION_OF_STATELESS, ...SUPPORTED_PROTOCOL_VERSIONS])],
			},
		],
	};
}

/**
 * Serves the card and the catalog, to everybody: both are public.
 *
 * @param origin at which clients reach the gateway from anywhere
 */
function addServerCard(app: Hono<HttpEnv>, origin: string, guard: RequestGuard): void {
	const identifier = `urn:air:${new URL(origin).hostname}:mcp:${SERVER_INFO.name}`;
	const catalog = { specVersion: "1.0", entries: [{ identifier, type: CARD_TYPE, url: `${origin}${CARD_PATH}` }] };
	const documents = [
		["/.well-known/ai-catalog.json", CATALOG_TYPE, JSON.stringify(catalog)],
		[CARD_PATH, CARD_TYPE, JSON.stringify(serverCard(origin))],
	] as const;
	const answerCors = cors({
		origin: "*",
		allowMethods: ["GET"],
		allowHeaders: ["Content-Type", "If-None-Match"],
		exposeHeaders: ["ETag"],
	});
	for (const [path, type, text] of documents) {
		// Other methods are for a device of this name.
		app.options(path, answerCors);
		app.get(path, guard.limitRate, answerCors, etag(), (c) =>
			c.body(text, 200, { "Content-Type": type, "Cache-Control": `public, max-age=${MAX_AGE}` }),
		);
	}
}
