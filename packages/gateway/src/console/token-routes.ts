import { SERVER_ERROR } from "xs-mcp-manager/core";
import * as z from "zod";
import type { TokenKind } from "../config/token-record.js";
import { TokenError, type TokenStore } from "../config/token-store.js";
import type { RunningGateway } from "../gateway.js";
import { HttpError, jsonRpcError } from "../http/http-error.js";
import { type Route, readJsonAs } from "../http/route.js";
import { clients } from "../transports/plugin.js";
import type { TokenQuestion, TokenSummary } from "./messages.js";

const NEW_TOKEN = z.strictObject({
	name: z.string(),
	kind: z.enum(["client", "device"]),
	devices: z.array(z.string().min(1).max(128)).min(1).max(1_000).optional(),
	userTools: z.boolean().optional(),
	microphone: z.boolean().optional(),
	operator: z.boolean().optional(),
	readOnly: z.boolean().optional(),
	expires: z.iso.datetime().optional(),
	/** Whether the operator has agreed to the consequences for others. */
	yes: z.boolean().optional(),
});

const MAX_NAMED = 10;

/** `GET /tokens`: the tokens, without their secrets. */
export function listTokens(tokens: TokenStore): Route {
	return (c) => {
		tokens.refresh();
		const list = tokens.records.map((record): TokenSummary => {
			const { sha256: _, salt: __, grant, ...rest } = record;
			const lastUsed = tokens.lastUse(record);
			return { ...rest, ...(grant && { client: grant.clientName }), ...(lastUsed !== undefined && { lastUsed }) };
		});
		return c.json({ tokens: list });
	};
}

/**
 * `POST /tokens`: creates a token. The answer is the only one that has it. A token that would disconnect others, or whose
 * device has never connected, is created only with `"yes": true`, else the answer is 409 with a {@link TokenQuestion}.
 */
export function addToken(gateway: RunningGateway): Route {
	const { tokens, servers, settings } = gateway;
	const { guard, endpoint } = gateway.use(clients);
	return async (c) => {
		const data = await readJsonAs(NEW_TOKEN, "token", c.env.incoming, settings.maxBodyBytes);
		expectConsistent(data);
		if (data.kind === "client" && !data.operator && !guard.needsToken) {
			const message = "operator: the first token for clients must be an operator's, or nobody could create another one";
			throw new HttpError(400, "malformed", message);
		}
		const { yes, devices: named, ...token } = data;
		const ids = named?.map((name) => servers.find(name)?.id ?? name);
		const unknown = ids?.filter((id) => servers.find(id) === undefined) ?? [];
		if (data.kind === "client" && unknown.length > 0) {
			const cure = "expected the id or alias of a device that has connected";
			const names = unknown.slice(0, MAX_NAMED).join(", ");
			throw new HttpError(400, "malformed", `devices: unknown device ${names}: ${cure}`);
		}
		const isFirst = data.kind === "client" ? !guard.needsToken : !tokens.needs("device");
		// There are no tokens for this kind: whoever is connected has none.
		const devices = servers.all.filter(({ configured, connection }) => !configured && connection !== undefined);
		const question: TokenQuestion = {
			isFirst,
			clients: isFirst && data.kind === "client" ? endpoint.clients.map(({ name }) => name) : [],
			devices: isFirst && data.kind === "device" ? devices.map(({ alias }) => alias) : [],
			unknown,
		};
		if ((isFirst || unknown.length > 0) && !yes) {
			const message = `${textOf(question, data.kind)}; agree with "yes": true`;
			return c.json({ ...jsonRpcError(SERVER_ERROR, message), question }, 409);
		}
		if (isFirst) {
			// Its own answer is to a client without a token.
			guard.keep(c.env.outgoing);
		}
		return c.json({ token: await translated(() => tokens.add({ ...token, ...(ids && { devices: ids }) })) }, 201);
	};
}

/** @throws HttpError (400) if the members contradict each other */
function expectConsistent(token: z.infer<typeof NEW_TOKEN>): void {
	const { kind, devices, userTools, microphone, operator, readOnly, expires } = token;
	const problems = [
		kind === "device" &&
			(userTools || microphone || operator || readOnly || expires !== undefined) &&
			"a device's token has no user tools and no microphone, is no operator's, not read-only and does not expire",
		operator && devices !== undefined && "an operator's token is for all devices",
		microphone && readOnly && "a token that listens with microphones is not read-only",
		operator && readOnly && "an operator's token is not read-only",
	];
	const problem = problems.find((each) => typeof each === "string");
	if (problem !== undefined) {
		throw new HttpError(400, "malformed", problem as string);
	}
}

function textOf({ isFirst, clients, devices, unknown }: TokenQuestion, kind: TokenKind): string {
	const cutOff = [...clients, ...devices];
	return [
		...(isFirst ? [`it is the first token for a ${kind}: from now on every ${kind} needs a token`] : []),
		...(cutOff.length > 0 ? [`${cutOff.length} would be disconnected: ${cutOff.slice(0, MAX_NAMED).join(", ")}`] : []),
		...(unknown.length > 0 ? [`never connected: ${unknown.slice(0, MAX_NAMED).join(", ")}`] : []),
	].join("; ");
}

/** `DELETE /tokens/NAME`: its users are disconnected within a second. */
export function removeToken(tokens: TokenStore): Route {
	return async (c) => {
		await translated(() => tokens.remove(c.req.param("name") ?? ""));
		return c.body(null, 204);
	};
}

async function translated<T>(change: () => Promise<T>): Promise<T> {
	try {
		return await change();
	} catch (error) {
		throw error instanceof TokenError ? new HttpError(400, "malformed", error.message) : error;
	}
}
