import { basename } from "node:path";
import type { Context } from "hono";
import { compress } from "hono/compress";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { isConflict } from "xs-mcp-manager/core";
import * as z from "zod";
import { type TokenRecord, tokenRecordSchema } from "../config/access.js";
import { isLoopback } from "../config/listen-address.js";
import { urlsForDevices } from "../devices/bootstrap/bootstrap-answer.js";
import { webhooks } from "../events/webhooks-plugin.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { cookieHeader, readCookie } from "../http/console-sessions.js";
import {
	allow,
	type HttpEnv,
	type Middleware,
	mayOperate,
	needsOperator,
	type Route,
	readJsonAs,
} from "../http/route.js";
import { management } from "../mcp/plugin.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { speech } from "../speech/plugin.js";
import { clients } from "../transports/plugin.js";
import { GATEWAY_INFO } from "../version.js";
import { claudeExtension } from "./claude-extension.js";
import type { readConsole } from "./console-files.js";
import { openFleet } from "./fleet.js";
import { addFleetStreams } from "./fleet-query.js";
import type { TokenQuestion } from "./messages.js";

/** Serves the page and its files, and signs in and out: before clients are authenticated. */
export function addConsolePage(gateway: RunningGateway, files: NonNullable<ReturnType<typeof readConsole>>): void {
	const { publicRoutes: app, settings } = gateway;
	const { guard } = gateway.use(clients);
	// Browsers take the headers of a 304 for those of the page.
	const retainedHeaders = [...RETAINED_304_HEADERS, "Content-Security-Policy"];
	app.all("/", allow("GET"), compress(), etag({ retainedHeaders }), files.page);
	// Exchanges a client's token for a cookie.
	app.post("/console/session", needsOwnPage(guard), async (c) => {
		const { incoming } = c.env;
		const data = await readJsonAs(SIGN_IN, "body", incoming, settings.maxBodyBytes);
		const token = await guard.verify(incoming, data.token.trim());
		const secret = await guard.sessions.open(token);
		const before = readCookie(incoming);
		if (before !== undefined) {
			guard.sessions.close(before);
		}
		c.header("Set-Cookie", cookieHeader(incoming, secret, guard.isSecure(incoming)));
		return c.body(null, 204);
	});
	// Ends the session, and the streams and requests that were admitted by it.
	app.delete("/console/session", needsOwnPage(guard), (c) => {
		const { incoming } = c.env;
		const cookie = readCookie(incoming);
		if (cookie !== undefined) {
			guard.sessions.close(cookie);
			guard.recheck();
		}
		c.header("Set-Cookie", cookieHeader(incoming, undefined, guard.isSecure(incoming)));
		return c.body(null, 204);
	});
	// One route per path: with a pattern among them, Hono would search its routes one by one for every request.
	for (const [name, serve] of files.assets) {
		app.get(`/console/${name}`, compress(), etag(), serve);
	}
}

/** Serves the page's requests, for authenticated clients. */
export function addConsoleRoutes(gateway: RunningGateway): void {
	const { routes: app, settings, tokens } = gateway;
	const { guard } = gateway.use(clients);
	const extension = claudeExtension(guard, gateway.consoleFolder);
	app.all("/console/session", allow("GET", "POST", "DELETE"), (c) =>
		c.json(describeSession(gateway, c, extension !== undefined)),
	);
	addFleetStreams(app, openFleet(gateway), settings.maxBodyBytes);
	if (extension !== undefined) {
		app.all("/console/xs-mcp-gateway.mcpb", allow("GET"), extension);
	}
	app.all("/console/webhooks", allow("GET"), (c) =>
		c.json({ webhooks: gateway.use(webhooks).of(c.var.admission.access.holder ?? "") }),
	);
	// Posts an example to the endpoint of a subscription to events.
	app.all("/console/webhooks/test", allow("POST"), async (c) => {
		const data = await readJsonAs(WEBHOOK, "webhook", c.env.incoming, settings.maxBodyBytes);
		const { holder = "" } = c.var.admission.access;
		const answer = await gateway.use(webhooks).test({ holder, server: undefined, ...data });
		if (answer === undefined) {
			throw new GatewayError("not-found", "no such subscription");
		}
		return c.json({ answer: "problem" in answer ? answer.problem : `HTTP ${answer.status}` });
	});
	app.use("/tokens/*", needsOperator);
	app.all("/tokens", allow("GET", "POST"));
	// The answer leaves out the secrets.
	app.get("/tokens", (c) => {
		tokens.refresh();
		return c.json({ tokens: tokens.records.map((record) => describeToken(gateway, record)) });
	});
	app.post("/tokens", saveToken(gateway));
	app.all("/tokens/:name", allow("PUT", "DELETE"));
	app.put("/tokens/:name", saveToken(gateway));
	// Its users are disconnected within a second.
	app.delete("/tokens/:name", async (c) => {
		await translated(() => tokens.remove(c.req.param("name")));
		return c.body(null, 204);
	});
	app.all("/settings", allow("GET"), needsOperator, (c) => c.json({ groups: gateway.listSettings() }));
	// Disconnects a configured server and connects to it again.
	app.all("/servers/:server/restart", allow("POST"), needsOperator, async (c) => {
		const id = c.req.param("server");
		const manager = gateway.use(management);
		if (manager?.configs.some((config) => config.id === id) !== true) {
			throw new GatewayError("not-found", `unknown server ${id}`);
		}
		await manager.disconnect(id);
		try {
			await manager.registerServer({ id });
		} catch (error) {
			throw new GatewayError("busy", `${id}: ${(error as Error).message}`);
		}
		return c.body(null, 204);
	});
}

const WEBHOOK = z.strictObject({
	name: z.string().max(128),
	arguments: z.record(z.string(), z.unknown()),
	url: z.string().max(2_048),
});

/** Rejects requests of other sites' pages, even of sites that may use the gateway. */
function needsOwnPage(guard: RequestGuard): Middleware {
	return async (c, next) => {
		if (guard.isOfForeignPage(c.env.incoming)) {
			throw new GatewayError("origin", "only the gateway's own page may do this");
		}
		await next();
	};
}

const SIGN_IN = z.strictObject({ token: z.string().min(1).max(256) });

/** The user of the console, and this gateway. */
export type ConsoleSessionInfo = ReturnType<typeof describeSession>;

/** Describes who asks, and this gateway. */
function describeSession(gateway: RunningGateway, c: Context<HttpEnv>, hasExtension: boolean) {
	const { settings, urls } = gateway;
	const { websocket, websocketAddress, mqtt, mqttAddress, firmwareFolder } = settings;
	const { guard } = gateway.use(clients);
	const { admission } = c.var;
	const { access, session } = admission;
	// Undefined if another program started the process.
	const [, program = ""] = process.argv;
	// Its path is of use on this machine only.
	const hasBridge = /^xs-mcp-gateway(\.m?js)?$/.test(basename(program)) && isLoopback(guard.addressOf(c.env.incoming));
	return {
		principal: access.principal,
		/** Whether a person has signed in with a token, and can sign out. */
		signedIn: session !== undefined,
		/** The ids of the only devices that may be reached; absent: all. */
		...(access.devices && { devices: [...access.devices] }),
		/** Whether nothing may be changed: tools are called only if they are known to be read-only. */
		readOnly: access.readOnly === true,
		/** Whether tokens and configured servers may be changed. */
		operator: mayOperate(admission),
		version: GATEWAY_INFO.version,
		needsToken: guard.needsToken,
		/** Whether `console/xs-mcp-gateway.mcpb` can be downloaded. */
		hasExtension,
		urls: urlsForDevices(urls, settings),
		/** Whether only devices on this machine can connect. */
		isLoopback: !(websocket && !isLoopback(websocketAddress)) && !(mqtt && !isLoopback(mqttAddress)),
		hasFirmware: firmwareFolder !== undefined,
		/** Whether the client may have devices say texts. */
		hasVoice: gateway.use(speech).voice !== undefined && access.readOnly !== true,
		/** The command of this installation that connects an application of this machine. */
		...(hasBridge && { bridge: { command: process.execPath, args: [program, "stdio"] } }),
	};
}

/** A token, as the operator sees it: without its secret. */
export type TokenSummary = ReturnType<typeof describeToken>;

function describeToken(gateway: RunningGateway, record: TokenRecord) {
	const { tokens } = gateway;
	const { sha256: _, salt: __, grant, ...rest } = record;
	const lastUsed = tokens.lastUse(record);
	return {
		...rest,
		...namesOf(gateway, rest.devices),
		/** The name of a client that has signed in; absent for tokens that an operator made. */
		...(grant && { client: grant.clientName }),
		/** In milliseconds since 1970; absent: never. */
		...(lastUsed !== undefined && { lastUsed }),
		/** An edit names the revision that it replaces. */
		revision: tokens.revisionOf(record),
	};
}

const TOKEN_RIGHTS = {
	...tokenRecordSchema.omit({ name: true, created: true, salt: true, grant: true, sha256: true }).shape,
	devices: z.array(z.string().min(1).max(128)).min(1).max(1_000).optional(),
	/** Whether the operator has agreed to the consequences for others. */
	yes: z.boolean().optional(),
};

/** Devices that errors and the audit log name. */
const MAX_NAMED = 10;

const NEW_TOKEN = z.strictObject({ name: z.string(), ...TOKEN_RIGHTS });

const EDITED_TOKEN = z.strictObject({ revision: z.int().min(1), ...TOKEN_RIGHTS });

/**
 * `POST /tokens`: creates a token. The answer is the only one that has it. `PUT /tokens/NAME` replaces its rights: those who use it
 * get them at once. Requires `"yes": true` if it disconnects others, names an unknown device, or removes the last operator: otherwise
 * the answer is 409 with a {@link TokenQuestion}.
 */
function saveToken(gateway: RunningGateway): Route {
	const { tokens, servers, settings } = gateway;
	const { guard, endpoint } = gateway.use(clients);
	return async (c) => {
		const path = c.req.param("name");
		const read = <T>(schema: z.ZodType<T>) => readJsonAs(schema, "token", c.env.incoming, settings.maxBodyBytes);
		const data: z.infer<typeof NEW_TOKEN> & { revision?: number } =
			path === undefined ? await read(NEW_TOKEN) : { name: path, ...(await read(EDITED_TOKEN)) };
		expectConsistent(data, tokens.now);
		if (data.kind === "client" && !data.operator && !guard.needsToken) {
			const message = "operator: the first token for clients must be an operator's, or nobody could create another one";
			throw new GatewayError("malformed", message);
		}
		const { yes, revision, devices: named, ...rights } = data;
		const ids = named?.map((name) => servers.find(name)?.id ?? name);
		const token = { ...rights, ...(ids && { devices: ids }) };
		const before = revision === undefined ? undefined : tokens.records.find(({ name }) => name === data.name);
		const unknown = ids?.filter((id) => servers.find(id) === undefined && !before?.devices?.includes(id)) ?? [];
		const isLastOperator =
			before?.operator === true &&
			!data.operator &&
			!tokens.records.some((each) => each !== before && each.operator && tokens.current(each.sha256));
		if (data.kind === "client" && unknown.length > 0) {
			const cure = "expected the id or alias of a device that has connected";
			const names = unknown.slice(0, MAX_NAMED).join(", ");
			throw new GatewayError("malformed", `devices: unknown device ${names}: ${cure}`);
		}
		const isFirst = data.kind === "client" ? !guard.needsToken : !tokens.needs("device");
		// There are no tokens for this kind: whoever is connected has none.
		const devices = servers.all.filter(({ configured, connection }) => !configured && connection !== undefined);
		const question: TokenQuestion = {
			isFirst,
			isLastOperator,
			clients: isFirst && data.kind === "client" ? endpoint.clients.map(({ name }) => name) : [],
			devices: isFirst && data.kind === "device" ? devices.map(({ alias }) => alias) : [],
			unknown,
		};
		if ((isFirst || isLastOperator || unknown.length > 0) && !yes) {
			const { kind } = data;
			const cutOff = [...question.clients, ...question.devices];
			const reasons = [
				...(isFirst ? [`it is the first token for a ${kind}: from now on every ${kind} needs a token`] : []),
				...(isLastOperator ? ["it is the last operator's token: afterwards only the command line manages tokens"] : []),
				...(cutOff.length > 0
					? [`${cutOff.length} would be disconnected: ${cutOff.slice(0, MAX_NAMED).join(", ")}`]
					: []),
				...(unknown.length > 0 ? [`never connected: ${unknown.slice(0, MAX_NAMED).join(", ")}`] : []),
				'agree with "yes": true',
			];
			return c.json({ ...new GatewayError("conflict", reasons.join("; ")).response, question }, 409);
		}
		guard.exempt(c.env.outgoing);
		const secret = await translated(async () =>
			revision === undefined ? await tokens.add(token) : await tokens.change(token, revision),
		);
		const shown = namesOf(gateway, ids?.slice(0, MAX_NAMED));
		const more = (ids?.length ?? 0) - MAX_NAMED;
		c.set("change", { ...rights, ...shown, ...(shown && more > 0 && { names: [...shown.names, `+${more}`] }) });
		return typeof secret === "string" ? c.json({ token: secret }, 201) : c.body(null, 204);
	};
}

/** The aliases of devices; ids of those that are not known. */
function namesOf({ servers }: RunningGateway, ids: readonly string[] | undefined) {
	return ids && { names: ids.map((id) => servers.find(id)?.alias ?? id) };
}

/** @throws GatewayError (400) if the members contradict each other, or the token has expired already */
function expectConsistent(token: z.infer<typeof NEW_TOKEN>, now: number): void {
	const { kind, devices, microphone, operator, readOnly, expires } = token;
	const ofClients = (["userTools", "microphone", "operator", "readOnly", "expires"] as const).find(
		(name) => token[name],
	);
	const problems = [
		kind === "device" && ofClients && `${ofClients}: only a client's token has it`,
		operator && devices !== undefined && "devices: an operator's token is for all devices",
		microphone && readOnly && "microphone: a read-only token does not listen",
		operator && readOnly && "readOnly: an operator's token is not read-only",
		expires !== undefined && Date.parse(expires) <= now && `expires: expected a time in the future, got ${expires}`,
	];
	const problem = problems.find((each) => typeof each === "string");
	if (problem !== undefined) {
		throw new GatewayError("malformed", problem);
	}
}

async function translated<T>(change: () => Promise<T>): Promise<T> {
	try {
		return await change();
	} catch (error) {
		if (isConflict(error)) {
			throw new GatewayError("conflict", "revision: the token was changed meanwhile: list the tokens again");
		}
		throw error;
	}
}
