import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Progress } from "@modelcontextprotocol/client";
import type { DeviceSummary } from "../console/operator-routes.js";
import { encodeHeaders, parameterHeaders, standardHeaders } from "../transports/request-headers.js";
import { GATEWAY_INFO } from "../version.js";
import { type HttpRequest, type Message, messagesIn, PATIENCE, Rejection, sendRequest } from "./http-request.js";
import { UsageError } from "./output.js";

/** Default address of a gateway. */
export const DEFAULT_URL = "http://127.0.0.1:8766";

/** Flags common to the commands that query a gateway. */
export interface ClientFlags {
	readonly url?: string;
	readonly token?: string;
	readonly json?: boolean;
}

/** The gateway does not answer. It may start later. */
export class UnreachableError extends Error {}

/** Which tools the gateway lists: parameters of the URL, which override its settings. */
export interface CatalogFlags {
	readonly catalog?: string;
	readonly catalogLimit?: string;
	readonly pinnedTools?: readonly string[];
}

/** Address of a gateway for MCP clients. */
export interface GatewayAddress {
	readonly url: string;
	/** Headers that authorize requests. */
	readonly headers: Readonly<Record<string, string>>;
}

/** The content types that a client of Streamable HTTP accepts. */
export const ACCEPT = { Accept: "application/json, text/event-stream" };

const META = "io.modelcontextprotocol/";
const REVISION = "2026-07-28";

/** The revision and client of each request. Without capabilities: the command line cannot answer questions. */
const ENVELOPE = {
	[`${META}protocolVersion`]: REVISION,
	[`${META}clientInfo`]: GATEWAY_INFO,
	[`${META}clientCapabilities`]: {},
};

/** A message that a gateway checks like any other, and that does nothing. */
const PROBE = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0, _meta: ENVELOPE } };

const LOST = "lost the connection to the gateway";

/** A client of a running gateway, for its command line. */
export type GatewayClient = ReturnType<typeof clientFor>;

/**
 * Makes a client of the gateway that the flags name: its URL, with or without `/mcp`, and a client's token. An empty token counts as
 * absent: Claude Desktop passes one if the person typed nothing.
 *
 * @throws UsageError if the URL is invalid
 */
export function clientFor({ url = DEFAULT_URL, token }: ClientFlags) {
	if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
		throw new UsageError(`--url: expected a URL like http://127.0.0.1:8766, got ${JSON.stringify(url)}`);
	}
	const { username, password } = new URL(url);
	if (username !== "" || password !== "") {
		throw new UsageError("--url: must not contain a user name or password. Give a token with XS_MCP_GATEWAY_TOKEN");
	}
	/** Address without a path: http://127.0.0.1:8766. */
	const base = url.replace(/\/(mcp\/?)?$/, "");
	const headers: Readonly<Record<string, string>> = token ? { Authorization: `Bearer ${token}` } : {};

	/** Sends one HTTP request. Settles at the response's headers. Rejects with an Error that names the next step. */
	const open = async (path: string, options: HttpRequest = {}): Promise<IncomingMessage> => {
		try {
			return await sendRequest(`${base}${path}`, { ...options, headers: { ...options.headers, ...headers } });
		} catch (error) {
			if (!(error instanceof Rejection)) {
				const { code, message } = error as NodeJS.ErrnoException;
				throw new UnreachableError(
					`cannot reach a gateway at ${base} (${code ?? message}). ` +
						"Start one with xs-mcp-gateway, or name another with --url",
					{ cause: error },
				);
			}
			if (error.status === 401) {
				throw new Error(
					`the gateway at ${base} ${token ? "rejected the" : "requires a"} token: ` +
						"create one with xs-mcp-gateway token add NAME --for client, and pass it in XS_MCP_GATEWAY_TOKEN or --token",
				);
			}
			throw new Error(`the gateway at ${base} rejected the request: ${error.message}`);
		}
	};

	/** The gateway's answer, as JSON; undefined if it is empty. Rejects as `open` does. */
	const ask = async <Answer>(path: string, options: HttpRequest = {}): Promise<Answer> => {
		const text = await readText(await open(path, options));
		return text === "" ? (undefined as Answer) : JSON.parse(text);
	};

	/** The devices that the token can access. */
	const devices = async (): Promise<DeviceSummary[]> => (await ask<{ devices: DeviceSummary[] }>("/devices")).devices;

	/** The device of that alias or id. Rejects with an Error that names the known ones. */
	const device = async (name: string): Promise<DeviceSummary> => {
		const all = await devices();
		const found = all.find(({ id, alias }) => id === name || alias === name);
		if (found === undefined) {
			const aliases = all.map(({ alias }) => alias).join(", ");
			const known = all.length === 0 ? "no device has connected yet" : `known devices: ${aliases}`;
			throw new Error(`unknown device ${name}; ${known}`);
		}
		return found;
	};

	return {
		open,
		ask,
		devices,
		device,
		/**
		 * Returns the address of one device, or of all devices. Rejects with {@link UnreachableError} if no gateway answers, and
		 * with an Error that names the next step if it rejects the token or the view.
		 *
		 * @param name alias or id
		 */
		async address(
			name: string | undefined,
			{ catalog, catalogLimit, pinnedTools }: CatalogFlags,
		): Promise<GatewayAddress> {
			const path = name === undefined ? "/mcp" : `/mcp/${encodeURIComponent((await device(name)).alias)}`;
			const view = Object.entries({ catalog, catalogLimit, pinnedTools }).filter(([, value]) => value !== undefined);
			const target = `${path}?${new URLSearchParams(view.map(([name, value]) => [name, `${value}`]))}`;
			await ask(target, { method: "POST", json: PROBE, headers: ACCEPT });
			return { url: `${base}${target}`, headers };
		},
		/**
		 * Sends an MCP request (2026-07-28) to one device, with all its tools. Rejects as `open` does, and with an Error if the gateway
		 * responds with an error or the connection is lost.
		 *
		 * @param schema the schema of the arguments of a tool's call
		 */
		async request<Result>(
			name: string,
			method: string,
			params: Readonly<Record<string, unknown>>,
			schema?: unknown,
			onProgress?: (progress: Progress) => void,
		): Promise<Result> {
			const _meta = { ...ENVELOPE, ...(onProgress && { progressToken: 0 }) };
			const message: Message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
			const path = `/mcp/${encodeURIComponent(name)}?catalog=full`;
			const repeated = { ...standardHeaders(message), ...parameterHeaders(schema, params.arguments) };
			const sent = { ...ACCEPT, "MCP-Protocol-Version": REVISION, ...encodeHeaders(repeated) };
			try {
				const response = await open(path, { method: "POST", headers: sent, json: message, timeout: PATIENCE });
				for await (const { method: notification, params: progress, result, error } of messagesIn(response)) {
					if (error !== undefined) {
						throw new Error(error.message);
					}
					if (result !== undefined) {
						return result as Result;
					}
					if (notification === "notifications/progress") {
						onProgress?.(progress as unknown as Progress);
					}
				}
			} catch (error) {
				const { code } = (error instanceof UnreachableError ? error.cause : error) as NodeJS.ErrnoException;
				throw code === "ECONNRESET" ? new Error(LOST, { cause: error }) : error;
			}
			throw new Error(LOST);
		},
	};
}
