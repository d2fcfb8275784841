import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { publicOrigin, urlAt } from "./config/listen-address.js";
import { listenAt, TlsFiles } from "./config/tls-files.js";
import { urlsForDevices } from "./console/device-urls.js";
import type { RunningGateway } from "./gateway.js";
import type { AuditLog } from "./history/audit-log.js";
import { history } from "./history/plugin.js";
import { readJson } from "./http/body.js";
import { HttpError } from "./http/http-error.js";
import { RequestLimits } from "./http/limits.js";
import { deviceBody, RejectionReport } from "./http/rejections.js";
import { allowOrigin, setHeaders } from "./http/response-headers.js";
import { allow, type HttpEnv, type Middleware, type Route } from "./http/route.js";
import { HttpServer } from "./http/server.js";
import { RequestGuard } from "./oauth/request-guard.js";
import { openSignIn, type SignIn } from "./oauth/sign-in.js";
import { addSignIn } from "./oauth/sign-in-routes.js";
import { HttpEndpoint } from "./transports/http-endpoint.js";
import { addServerCard } from "./transports/server-card.js";

/** The clients of a gateway over HTTP. */
export interface Clients {
	readonly endpoint: HttpEndpoint;
	readonly guard: RequestGuard;
	readonly rejections: RejectionReport;
	/** Requests that devices may make. */
	readonly limits: RequestLimits;
}

/** Serves clients over HTTP, and devices on the same port, as soon as the gateway listens. */
export function serveClients(gateway: RunningGateway): Clients {
	const { settings, log, metrics, urls, key } = gateway;
	const { httpAddress: address, httpPort: port } = settings;
	const signIn = openSignIn(gateway);
	const endpoint = new HttpEndpoint(gateway, { ...settings, sessionKey: key.derive("client-session") });
	metrics.add("sessions", "Sessions of clients (revisions up to 2025-11-25)", () => endpoint.sessions);
	const guard = new RequestGuard(gateway, signIn);
	const rejections = new RejectionReport(gateway, (request) => guard.addressOf(request));
	gateway.deviceRoutes.onError((error, c) => rejections.answer(error, c, deviceBody));
	const clients = { endpoint, guard, rejections, limits: new RequestLimits(settings) };
	let server: HttpServer | undefined;
	gateway.on("listen", async () => {
		const files = TlsFiles.of("http", settings);
		const tls = files?.options;
		const app = createApp(gateway, clients, signIn);
		const listening = new HttpServer({ app, address, port, rejections, log, ...(tls && { tls }) });
		const url = urlAt(tls ? "https" : "http", address, await listenAt("http", port, () => listening.listen()));
		server = listening;
		gateway.on("tick", () => files?.renew(listening, log));
		urls.clients = `${url}/mcp`;
	});
	gateway.on("tick", () => guard.recheck());
	gateway.on("stop", () => {
		endpoint.stop();
		server?.stop();
	});
	gateway.on("close", async () => {
		await endpoint.close();
		await server?.close();
	});
	return clients;
}

/** Everything that the gateway serves over HTTP. Its plugins have added their routes. */
function createApp(gateway: RunningGateway, clients: Clients, signIn: SignIn | undefined): Hono<HttpEnv> {
	const { endpoint, guard, rejections } = clients;
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
	app.use(checkSource(guard), allowOrigin, rejectWebSockets(gateway));
	if (signIn !== undefined) {
		addSignIn(app, gateway, clients, signIn);
	}
	// Clients without a token look for OAuth here: after 401 they would keep looking; 404 means that the gateway does not
	// use it.
	app.all("/.well-known/*", notFound);
	app.route("/", gateway.publicRoutes);

	app.use(authenticate(guard));
	for (const path of ["/mcp/:device?", "/mcp/", "/mcp/:device/"]) {
		app.all(path, allow("GET", "POST", "DELETE"), serveMcp(endpoint, guard, settings.maxBodyBytes));
	}
	app.use(keepAudit(gateway.use(history).audit), rejectChanges);
	app.route("/", gateway.routes);
	return app;
}

function checkSource(guard: RequestGuard): Middleware {
	return async (c, next) => {
		guard.checkSource(c.env.incoming);
		checkPath(c.env.incoming.url ?? "", c.req.path);
		await next();
	};
}

/** A proxy that lets some paths through must see the one that is served: `/mcp/%2e%2e/devices` is not `/devices`. */
function checkPath(url: string, served: string): void {
	const [path] = url.split(/[?#]/);
	if (path?.startsWith("/") && path !== served) {
		throw new HttpError(404, "not-found", "not found");
	}
}

/** Refuses WebSockets on this port. A device with this port in its URL would get a page instead, and no log would say why. */
function rejectWebSockets(gateway: RunningGateway): Middleware {
	return async (c, next) => {
		if (c.req.header("upgrade")?.toLowerCase() === "websocket") {
			const { websocket, mqtt } = urlsForDevices(gateway.urls, gateway.settings);
			const urls = [websocket, mqtt].filter((url) => url !== undefined).join(" or ") || "the broker";
			throw new HttpError(404, "not-found", `no WebSocket at this port: devices connect to ${urls}`);
		}
		await next();
	};
}

function authenticate(guard: RequestGuard): Middleware {
	return async (c, next) => {
		c.set("admission", await guard.admit(c.env.incoming, c.env.outgoing));
		await next();
	};
}

/** Rejects what a read-only token may not change. */
const rejectChanges: Middleware = async (c, next) => {
	if (c.var.admission.access.readOnly && isChange(c)) {
		throw new HttpError(403, "token", "this token is read-only");
	}
	await next();
};

/** Whether a request changes something of the gateway. `/console/` is a client's own session. */
function isChange({ req }: Context<HttpEnv>): boolean {
	return req.method !== "GET" && !req.path.startsWith("/console/");
}

/** Records changes over HTTP, including rejected ones. */
function keepAudit(audit: AuditLog | undefined): Middleware {
	return async (c, next) => {
		await next();
		if (isChange(c)) {
			audit?.requested(c.var.admission.access.principal, `${c.req.method} ${c.req.path}`, c.res.status);
		}
	};
}

function serveMcp(endpoint: HttpEndpoint, guard: RequestGuard, maxBodyBytes: number): Route {
	return async (c) => {
		const { incoming, outgoing } = c.env;
		const body = incoming.method === "POST" ? await readJson(incoming, maxBodyBytes) : undefined;
		const { access, address, grant } = c.var.admission;
		const lacksScope = grant && ((scope: string) => guard.lacksScope(incoming, scope));
		await endpoint.handle(incoming, outgoing, { access, address, server: c.req.param("device"), body, lacksScope });
		return RESPONSE_ALREADY_SENT;
	};
}

function notFound(): never {
	throw new HttpError(404, "not-found", "not found");
}
