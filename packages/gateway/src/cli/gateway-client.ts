import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Progress } from "@modelcontextprotocol/client";
import type { DeviceSummary } from "../operator/operator-routes.js";
import { encodeHeaders, parameterHeaders, standardHeaders } from "../transports/request-headers.js";
import { GATEWAY_INFO } from "../version.js";
import { UsageError } from "./exit.js";
import { type Message, messagesIn, PATIENCE, Rejection, sendRequest } from "./http-request.js";

/** Where a gateway listens by default. */
export const DEFAULT_URL = "http://127.0.0.1:8766";

/** Options common to the commands that query a gateway. */
export interface ClientOptions {
	readonly url?: string;
	readonly token?: string;
	readonly json?: boolean;
}

/** The gateway does not answer. It may start later. */
export class UnreachableError extends Error {}

/** Which tools the gateway lists: parameters of the URL, which override its settings. */
export interface CatalogOptions {
	readonly catalog?: string;
	readonly catalogLimit?: string;
	readonly pinnedTools?: readonly string[];
}

/** Where a gateway serves MCP. */
export interface GatewayAddress {
	readonly url: string;
	/** With which the gateway accepts requests. */
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

interface McpOptions {
	/** The schema of the arguments of a tool's call. */
	readonly schema?: unknown;
	/** Called with each progress notification. */
	readonly onProgress?: (progress: Progress) => void;
}

type AskOptions = Parameters<typeof sendRequest>[1];

/** A client of a running gateway, for its command line. */
export class GatewayClient {
	/** Without a path: http://127.0.0.1:8766. */
	readonly #base: string;
	readonly #headers: Readonly<Record<string, string>>;

	/**
	 * @param url the gateway's URL, with or without `/mcp`
	 * @param token a client's token; absent if none is needed
	 * @throws UsageError if the URL is invalid
	 */
	constructor(url: string, token?: string) {
		if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
			throw new UsageError(`--url: expected a URL like http://127.0.0.1:8766, got ${JSON.stringify(url)}`);
		}
		const { username, password } = new URL(url);
		if (username !== "" || password !== "") {
			throw new UsageError("--url: must not contain a user name or password. Give a token with XS_MCP_GATEWAY_TOKEN");
		}
		this.#base = url.replace(/\/(mcp\/?)?$/, "");
		this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
	}

	/** The devices that the token can access. */
	async devices(): Promise<DeviceSummary[]> {
		return (await this.ask<{ devices: DeviceSummary[] }>("/devices")).devices;
	}

	/** The device of that alias or id. Rejects with an Error that names the known ones. */
	async device(name: string): Promise<DeviceSummary> {
		const devices = await this.devices();
		const found = devices.find(({ id, alias }) => id === name || alias === name);
		if (found === undefined) {
			const known =
				devices.length === 0
					? "no device has connected yet"
					: `known devices: ${devices.map(({ alias }) => alias).join(", ")}`;
			throw new Error(`unknown device ${name}; ${known}`);
		}
		return found;
	}

	/**
	 * Where the gateway serves MCP: one device, else all. Rejects with {@link UnreachableError} if no gateway answers, and
	 * with an Error that names the next step if it rejects the token or the view.
	 *
	 * @param device alias or id
	 * @param view which tools the gateway lists
	 */
	async address(
		device: string | undefined,
		{ catalog, catalogLimit, pinnedTools }: CatalogOptions,
	): Promise<GatewayAddress> {
		const path = device === undefined ? "/mcp" : `/mcp/${encodeURIComponent((await this.device(device)).alias)}`;
		const view = Object.entries({ catalog, catalogLimit, pinnedTools }).filter(([, value]) => value !== undefined);
		const query = new URLSearchParams(view.map(([name, value]) => [name, `${value}`]));
		const target = `${path}?${query}`;
		await this.ask(target, { method: "POST", json: PROBE, headers: ACCEPT });
		return { url: `${this.#base}${target}`, headers: this.#headers };
	}

	/**
	 * Sends an MCP request (2026-07-28) to one device, with all its tools. Rejects as {@link open} does, and with an Error if the
	 * gateway responds with an error or the connection is lost.
	 */
	async request<Result>(
		device: string,
		method: string,
		params: Readonly<Record<string, unknown>>,
		options: McpOptions = {},
	): Promise<Result> {
		const { schema, onProgress } = options;
		const _meta = { ...ENVELOPE, ...(onProgress && { progressToken: 0 }) };
		const message: Message = { jsonrpc: "2.0", id: 0, method, params: { ...params, _meta } };
		const path = `/mcp/${encodeURIComponent(device)}?catalog=full`;
		const repeated = { ...standardHeaders(message), ...parameterHeaders(schema, params.arguments) };
		const sent = { ...ACCEPT, "MCP-Protocol-Version": REVISION, ...encodeHeaders(repeated) };
		try {
			const response = await this.open(path, { method: "POST", headers: sent, json: message, timeout: PATIENCE });
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
	}

	/** The gateway's answer, as JSON; undefined if it is empty. Rejects as {@link open} does. */
	async ask<Answer>(path: string, options: AskOptions = {}): Promise<Answer> {
		const text = await readText(await this.open(path, options));
		return text === "" ? (undefined as Answer) : JSON.parse(text);
	}

	/** Sends one HTTP request. Settles when the response begins. Rejects with an Error that names the next step. */
	async open(path: string, options: AskOptions = {}): Promise<IncomingMessage> {
		try {
			return await sendRequest(`${this.#base}${path}`, {
				...options,
				headers: { ...options.headers, ...this.#headers },
			});
		} catch (error) {
			if (!(error instanceof Rejection)) {
				const { code, message } = error as NodeJS.ErrnoException;
				throw new UnreachableError(
					`cannot reach a gateway at ${this.#base} (${code ?? message}). ` +
						"Start one with xs-mcp-gateway, or name another with --url",
					{ cause: error },
				);
			}
			if (error.status === 401) {
				throw new Error(
					`the gateway at ${this.#base} ${this.#headers.Authorization === undefined ? "requires a" : "rejected the"} token: ` +
						"create one with xs-mcp-gateway token add NAME --for client, and pass it in XS_MCP_GATEWAY_TOKEN or --token",
				);
			}
			throw new Error(`the gateway at ${this.#base} rejected the request: ${error.message}`);
		}
	}
}

/** The gateway that the options name. An empty token counts as absent: Claude Desktop passes one if the person typed nothing. */
export function clientFor({ url = DEFAULT_URL, token }: ClientOptions): GatewayClient {
	return new GatewayClient(url, token || undefined);
}
