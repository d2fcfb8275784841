import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { ServerIdentity, ServerRegistry } from "xs-mcp-manager/core";
import type { SaveState } from "../config/save-state.js";
import { addConsolePage, addConsoleRoutes, type ConsoleOptions } from "../console/console-routes.js";
import { addBindingRoutes } from "../devices/bootstrap/binding-routes.js";
import type { DeviceBindings } from "../devices/bootstrap/device-bindings.js";
import type { FirmwareOffers } from "../devices/firmware/firmware-offers.js";
import type { AuditLog } from "../history/audit-log.js";
import type { History } from "../history/history.js";
import { addHistoryRoutes } from "../history/routes.js";
import { readJson } from "../http/body.js";
import { HttpError } from "../http/http-error.js";
import type { RejectionReport } from "../http/rejections.js";
import { allowOrigin, setHeaders } from "../http/response-headers.js";
import { allow, type HttpEnv, type Middleware, type Route } from "../http/route.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { addSignIn, type SignInRoutesOptions } from "../oauth/sign-in-routes.js";
import type { GatewayEvents } from "../operator/events.js";
import type { Metrics } from "../operator/metrics.js";
import { addDeviceRoutes, addOperatorRoutes, type ClusterSource, offerFirmware } from "../operator/operator-routes.js";
import type { HttpEndpoint } from "../transports/http-endpoint.js";
import { addServerCard } from "../transports/server-card.js";

interface AppOptions {
	readonly endpoint: HttpEndpoint;
	readonly servers: ServerRegistry;
	readonly events: GatewayEvents;
	readonly metrics: Metrics;
	readonly guard: RequestGuard;
	readonly rejections: RejectionReport;
	readonly maxBodyBytes: number;
	readonly bindings: DeviceBindings;
	/** The routes for devices: see createDeviceApp. */
	readonly deviceApp: Hono<HttpEnv>;
	readonly firmware: FirmwareOffers;
	readonly console: ConsoleOptions;
	readonly cluster: ClusterSource;
	/** Undefined: off. */
	readonly history: History | undefined;
	readonly audit: AuditLog | undefined;
	readonly saves: SaveState;
	/** The public origin of the gateway; undefined: it has no server card. */
	readonly publicOrigin: string | undefined;
	/** Sign-in with OAuth; undefined: off. */
	readonly signIn: Omit<SignInRoutesOptions, "guard" | "rejections"> | undefined;
	/** The URL at which a device reaches the gateway over HTTP; undefined if unknown. */
	readonly urlFor: (identity: ServerIdentity) => string | undefined;
}

/** Everything that the gateway serves over HTTP. */
export function createApp(options: AppOptions): Hono<HttpEnv> {
	const { endpoint, servers, events, metrics, guard, rejections, maxBodyBytes, bindings, deviceApp } = options;
	const { firmware, urlFor, saves } = options;
	const app = new Hono<HttpEnv>();
	app.onError((error, c) => rejections.answer(error, c));
	app.notFound(notFound);

	app.use(setHeaders);
	app.route("/", deviceApp);
	if (options.publicOrigin !== undefined) {
		addServerCard(app, options.publicOrigin, guard);
	}
	app.use(checkSource(guard), allowOrigin, rejectWebSockets(options.console));
	app.all("/healthz", allow("GET", "HEAD"), showHealth(saves, options.cluster));
	if (options.signIn !== undefined) {
		addSignIn(app, { ...options.signIn, guard, rejections });
	}
	// Clients without a token look for OAuth here: after 401 they would keep looking; 404 means that the gateway does not
	// use it.
	app.all("/.well-known/*", notFound);

	addConsolePage(app, { ...options.console, servers, guard, maxBodyBytes });

	app.use(authenticate(guard));
	for (const path of ["/mcp/:device?", "/mcp/", "/mcp/:device/"]) {
		app.all(path, allow("GET", "POST", "DELETE"), serveMcp(endpoint, guard, maxBodyBytes));
	}
	app.use(keepAudit(options.audit), rejectChanges);
	addConsoleRoutes(app, { ...options.console, servers, guard, maxBodyBytes });
	addOperatorRoutes(app, metrics, events, options.cluster);
	addDeviceRoutes(app, servers, maxBodyBytes);
	addHistoryRoutes(app, servers, options.history, options.audit);
	app.all("/devices/:device/firmware", allow("POST"), offerFirmware(servers, firmware, urlFor, maxBodyBytes));
	addBindingRoutes(app, bindings);
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

/** Without it, a device whose backend URL has this port would get a page, and no log would say why it stays offline. */
function rejectWebSockets({ describe }: ConsoleOptions): Middleware {
	return async (c, next) => {
		if (c.req.header("upgrade")?.toLowerCase() === "websocket") {
			const { websocket, mqtt } = describe().urls;
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

/** Status 200 in any case: it serves, and a restart would not help. Strangers are not told the paths, which the log has. */
function showHealth(saves: SaveState, cluster: ClusterSource): Route {
	return (c) => {
		const isLost = cluster()?.connected === false;
		const problem = isLost ? "the cluster's store is unreachable" : saves.problem && "the state cannot be saved";
		return c.json(problem === undefined ? { status: "ok" } : { status: "degraded", problem });
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
