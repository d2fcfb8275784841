import { basename } from "node:path";
import * as z from "zod";
import { isLoopback } from "../config/listen-address.js";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import { cookieHeader, readCookie } from "../http/console-sessions.js";
import { HttpError } from "../http/http-error.js";
import { allow, type Middleware, mayOperate, needsOperator, type Route, readJsonAs } from "../http/route.js";
import { isOfForeignPage } from "../http/source-check.js";
import { management } from "../mcp/plugin.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { speech } from "../speech/plugin.js";
import { clients } from "../transports/plugin.js";
import { GATEWAY_INFO } from "../version.js";
import { claudeExtension } from "./claude-extension.js";
import type { ConsoleFiles } from "./console-files.js";
import { urlsForDevices } from "./device-urls.js";
import { openFleet } from "./fleet.js";
import { addFleetStreams } from "./fleet-stream.js";
import type { ConsoleSessionInfo } from "./messages.js";
import { addToken, listTokens, removeToken } from "./token-routes.js";

/** The page, its files, and signing in and out: before clients are authenticated. */
export function addConsolePage(gateway: RunningGateway, files: ConsoleFiles): void {
	const { publicRoutes: app, settings } = gateway;
	const { guard } = gateway.use(clients);
	app.all("/", allow("GET"), files.page);
	app.post("/console/session", needsOwnPage(guard), signIn(guard, settings.maxBodyBytes));
	app.delete("/console/session", needsOwnPage(guard), signOut(guard));
	// One route per path: with a pattern among them, Hono would search its routes one by one for every request.
	for (const [name, serve] of files.assets) {
		app.get(`/console/${name}`, serve);
	}
}

/** The page's own routes, beside MCP and the operator's: for authenticated clients. */
export function addConsoleRoutes(gateway: RunningGateway): void {
	const { routes: app, settings, tokens } = gateway;
	const { guard } = gateway.use(clients);
	const extension = claudeExtension(guard, gateway.consoleFolder);
	app.all("/console/session", allow("GET", "POST", "DELETE"), showSession(gateway, extension !== undefined));
	addFleetStreams(app, openFleet(gateway), settings.maxBodyBytes);
	if (extension !== undefined) {
		app.all("/console/xs-mcp-gateway.mcpb", allow("GET"), extension);
	}
	app.all("/console/webhooks/test", allow("POST"), testWebhook(gateway));
	app.use("/tokens/*", needsOperator);
	app.all("/tokens", allow("GET", "POST"));
	app.get("/tokens", listTokens(tokens));
	app.post("/tokens", addToken(gateway));
	app.all("/tokens/:name", allow("DELETE"), removeToken(tokens));
	app.all("/servers/:server/restart", allow("POST"), needsOperator, restartServer(gateway));
}

const WEBHOOK = z.strictObject({
	name: z.string().max(128),
	arguments: z.record(z.string(), z.unknown()),
	url: z.string().max(2_048),
});

/** `POST /console/webhooks/test`: posts an example to the endpoint of a subscription to events. */
function testWebhook(gateway: RunningGateway): Route {
	return async (c) => {
		const data = await readJsonAs(WEBHOOK, "webhook", c.env.incoming, gateway.settings.maxBodyBytes);
		const { holder = "" } = c.var.admission.access;
		const answer = await gateway.use(events).webhooks.test({ holder, server: undefined, ...data });
		if (answer === undefined) {
			throw new HttpError(404, "not-found", "no such subscription");
		}
		return c.json({ answer: "problem" in answer ? answer.problem : `HTTP ${answer.status}` });
	};
}

/** Rejects requests of other sites' pages, even of sites that may use the gateway. */
function needsOwnPage(guard: RequestGuard): Middleware {
	return async (c, next) => {
		if (isOfForeignPage(c.env.incoming, guard.addresses.isSecure(c.env.incoming))) {
			throw new HttpError(403, "origin", "only the gateway's own page may do this");
		}
		await next();
	};
}

const SIGN_IN = z.strictObject({ token: z.string().min(1).max(256) });

/** `POST /console/session` with `{"token": …}`: exchanges a client's token for a cookie. */
function signIn(guard: RequestGuard, maxBodyBytes: number): Route {
	return async (c) => {
		const { incoming } = c.env;
		const data = await readJsonAs(SIGN_IN, "body", incoming, maxBodyBytes);
		const token = await guard.verify(incoming, data.token.trim());
		const secret = await guard.sessions.open(token);
		const before = readCookie(incoming);
		if (before !== undefined) {
			guard.sessions.close(before);
		}
		c.header("Set-Cookie", cookieHeader(incoming, secret, guard.addresses.isSecure(incoming)));
		return c.body(null, 204);
	};
}

/** `DELETE /console/session`: ends the session, and the streams and requests that were admitted by it. */
function signOut(guard: RequestGuard): Route {
	return (c) => {
		const { incoming } = c.env;
		const cookie = readCookie(incoming);
		if (cookie !== undefined) {
			guard.sessions.close(cookie);
			guard.recheck();
		}
		c.header("Set-Cookie", cookieHeader(incoming, undefined, guard.addresses.isSecure(incoming)));
		return c.body(null, 204);
	};
}

/** `GET /console/session`: who asks, and what this gateway is. */
function showSession(gateway: RunningGateway, hasExtension: boolean): Route {
	const { settings, urls } = gateway;
	const { websocket, websocketAddress, mqtt, mqttAddress, firmwareFolder } = settings;
	const { guard } = gateway.use(clients);
	const hasVoice = gateway.use(speech).voice !== undefined;
	// Undefined if another program started the process.
	const [, program = ""] = process.argv;
	const isCommand = /^xs-mcp-gateway(\.m?js)?$/.test(basename(program));
	const bridge = isCommand ? { command: process.execPath, args: [program, "stdio"] } : undefined;
	return (c) => {
		const { admission } = c.var;
		const { access, session } = admission;
		const info: ConsoleSessionInfo = {
			principal: access.principal,
			signedIn: session !== undefined,
			...(access.devices && { devices: [...access.devices] }),
			readOnly: access.readOnly === true,
			operator: mayOperate(admission),
			version: GATEWAY_INFO.version,
			needsToken: guard.needsToken,
			hasExtension,
			urls: urlsForDevices(urls, settings),
			isLoopback: !(websocket && !isLoopback(websocketAddress)) && !(mqtt && !isLoopback(mqttAddress)),
			hasFirmware: firmwareFolder !== undefined,
			hasVoice: hasVoice && access.readOnly !== true,
			// Its path is of use on this machine only.
			...(bridge && isLoopback(guard.addresses.of(c.env.incoming)) && { bridge }),
		};
		return c.json(info);
	};
}

/** `POST /servers/NAME/restart`: disconnects a configured server and connects to it again. */
function restartServer(gateway: RunningGateway): Route {
	return async (c) => {
		const id = c.req.param("server") ?? "";
		const manager = gateway.use(management);
		if (manager?.configs.some((config) => config.id === id) !== true) {
			throw new HttpError(404, "not-found", `unknown server ${id}`);
		}
		await manager.disconnect(id);
		try {
			await manager.registerServer({ id });
		} catch (error) {
			throw new HttpError(503, "busy", `${id}: ${(error as Error).message}`);
		}
		return c.body(null, 204);
	};
}
