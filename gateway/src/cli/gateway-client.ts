import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/client";
import type { DeviceSummary } from "../operator/operator-routes.js";
import { GATEWAY_INFO } from "../version.js";
import { UsageError } from "./exit.js";
import { Rejection, sendRequest } from "./http-request.js";

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

/** A message that a gateway checks like any other, and that does nothing. */
const PROBE = {
	jsonrpc: "2.0",
	method: "notifications/cancelled",
	params: { requestId: 0, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
};

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
	async address(device: string | undefined, view: CatalogOptions): Promise<GatewayAddress> {
		const path = device === undefined ? "/mcp" : `/mcp/${encodeURIComponent((await this.device(device)).alias)}`;
		const query = new URLSearchParams(Object.entries(view).map(([name, value]) => [name, `${value}`]));
		const target = `${path}?${query}`;
		await this.ask(target, { method: "POST", json: PROBE, headers: ACCEPT });
		return { url: `${this.#base}${target}`, headers: this.#headers };
	}

	/**
	 * Connects as an MCP client. To be closed by the caller. Rejects as {@link address} does.
	 *
	 * @param view default: all tools
	 */
	async connect(device?: string, view: CatalogOptions = { catalog: "full" }): Promise<Client> {
		const { url, headers } = await this.address(device, view);
		// Loaded on demand, so that other commands start faster.
		const [{ Client }, { GatewayTransport }] = await Promise.all([
			import("@modelcontextprotocol/client"),
			import("./gateway-transport.js"),
		]);
		const client = new Client(GATEWAY_INFO, {
			versionNegotiation: { mode: "auto" },
			// The gateway has checked results already, with limits that this process does not have. With a validator, the SDK
			// would reject a request for input, because it has no structuredContent.
			jsonSchemaValidator: { getValidator: () => undefined as never },
		});
		await client.connect(new GatewayTransport(new URL(url), { requestInit: { headers: { ...headers } } }));
		return client;
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
