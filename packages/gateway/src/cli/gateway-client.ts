import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Progress } from "@modelcontextprotocol/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { createParser } from "eventsource-parser";
import { tryParseJson } from "xs-mcp-firmware/core/text/json";
import { deviceIdOf } from "../config/access.js";
import type { DeviceSummary } from "../console/operator-routes.js";
import { GatewayError } from "../gateway-error.js";
import { CATALOG_MODES, httpUrl, readValue } from "../plugin.js";
import { encodeHeaders, repeatedHeaders } from "../transports/request-headers.js";
import { GATEWAY_INFO } from "../version.js";

/** Default address of a gateway. */
const DEFAULT_URL = "http://127.0.0.1:8766";

/** Flags common to the commands that query a gateway. */
export interface ClientFlags {
	readonly url?: string;
	readonly token?: string;
	readonly json?: boolean;
}

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
 * Makes a client of the gateway that the flags name: its URL, with or without `/mcp` and a query, and a client's token. Both may be
 * empty: Claude Desktop passes that if the person typed nothing.
 *
 * @throws GatewayError if the URL is invalid
 */
export function clientFor(flags: ClientFlags) {
	// Values from a file may end with a line break.
	const [url, token] = [flags.url?.trim() || DEFAULT_URL, flags.token?.trim()];
	try {
		readValue(httpUrl, url);
	} catch (error) {
		throw new GatewayError("usage", `--url: ${(error as Error).message}. Pass a token in XS_MCP_GATEWAY_TOKEN`);
	}
	/** Address without a path, http://127.0.0.1:8766, and the parameters of one that was copied from an MCP client. */
	const [, base = "", query] = /^(.*?)(?:\/(?:mcp\/?)?)?(?:\?(.*))?$/s.exec(url) ?? [];
	const headers: Readonly<Record<string, string>> = token ? { Authorization: `Bearer ${token}` } : {};

	/** Sends one HTTP request. Settles at the response's headers. Rejects with an Error that names the next step. */
	const open = async (path: string, options: HttpRequest = {}): Promise<IncomingMessage> => {
		try {
			return await sendRequest(`${base}${path}`, { ...options, headers: { ...options.headers, ...headers } });
		} catch (error) {
			if (!(error instanceof GatewayError)) {
				const { code, message } = error as NodeJS.ErrnoException;
				throw new GatewayError(
					"unreachable",
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
		const found = all.find(({ id, alias }) => id === deviceIdOf(name) || alias === name);
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
		 * Returns the address of one device, or of all devices. Rejects with GatewayError "unreachable" if no gateway answers, and
		 * with an Error that names the next step if it rejects the token or the view.
		 *
		 * @param name alias or id
		 */
		async address(
			name: string | undefined,
			{ catalog, catalogLimit, pinnedTools }: CatalogFlags,
		): Promise<GatewayAddress> {
			const path = name === undefined ? "/mcp" : `/mcp/${encodeURIComponent((await device(name)).alias)}`;
			const flags = Object.entries({ catalog, catalogLimit, pinnedTools }).filter(([, value]) => value !== undefined);
			// The gateway takes the last of two parameters with the same name.
			const view = [...new URLSearchParams(query), ...flags.map(([name, value]) => [name, `${value}`])];
			const target = `${path}?${new URLSearchParams(view)}`;
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
			const headers = { ...ACCEPT, ...repeatingHeaders(message, REVISION, schema) };
			try {
				const response = await open(path, { method: "POST", headers, json: message, timeout: PATIENCE });
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
				const { code } = ((error instanceof GatewayError ? error.cause : error) ?? {}) as NodeJS.ErrnoException;
				throw code === "ECONNRESET" ? new Error(LOST, { cause: error }) : error;
			}
			throw new Error(LOST);
		},
	};
}

/** Collects the values of a repeated flag. */
export function collect(text: string, before: readonly string[] = []): string[] {
	return [...before, text];
}

/** Returns a parser of numbers from 1. @param kind names such a number in the error */
export function numberUpTo(maximum: number, kind: string): (text: string) => number {
	return (text) => {
		const number = Number(text);
		if (!/^[0-9]+$/.test(text) || number < 1 || number > maximum) {
			throw new InvalidArgumentError(`Expected ${kind} from 1 to ${maximum}.`);
		}
		return number;
	};
}

/** Adds the options that say where the gateway runs. */
export function withAddress(command: Command): Command {
	return command
		.addOption(new Option("--url <url>", "URL of the gateway").env("XS_MCP_GATEWAY_URL").default(DEFAULT_URL))
		.addOption(new Option("--token <token>", "Token of a client; the variable is safer").env("XS_MCP_GATEWAY_TOKEN"));
}

/** Adds the options that say which tools the gateway lists. */
export function withCatalog(command: Command): Command {
	return command
		.addOption(
			new Option("--catalog <mode>", "Which tools are listed; default: the gateway's setting").choices(CATALOG_MODES),
		)
		.option("--catalog-limit <tools>", "Most tools in a full list, if --catalog is auto")
		.option(
			"--pinned-tools <tool>",
			"Tools that are always listed; a trailing * matches any ending (repeatable)",
			collect,
		);
}

/** A JSON-RPC message. The client and the gateway check its content. */
export interface Message {
	readonly jsonrpc: "2.0";
	readonly id?: string | number;
	readonly method?: string;
	readonly params?: { readonly _meta?: Record<string, unknown> } & Record<string, unknown>;
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The headers that repeat a message since 2026-07-28. @param schema of the arguments of a tool's call */
export function repeatingHeaders(
	message: Message,
	revision: string,
	schema: unknown,
): Readonly<Record<string, string>> {
	return encodeHeaders(repeatedHeaders(message, revision, schema));
}

/** Milliseconds without a byte of a response, for a network that fails silently. The gateway's own limits are shorter. */
export const PATIENCE = 300_000;

export interface HttpRequest {
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** The body, which is sent as JSON. */
	readonly json?: object;
	readonly signal?: AbortSignal;
	/** Milliseconds without a byte from the server after which the request fails. Default: no limit. */
	readonly timeout?: number;
}

/**
 * Sends one HTTP request. Settles at the response's headers. Not fetch: loading that takes four times the CPU.
 *
 * Rejects with GatewayError "rejected" unless the status is 200 to 299, and with Node's error if there is no response.
 */
export async function sendRequest(url: string, { json, headers, ...options }: HttpRequest): Promise<IncomingMessage> {
	const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
	const type = json !== undefined && { "Content-Type": "application/json" };
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		const sent = request(url, { ...options, headers: { ...headers, ...type } }, resolve);
		sent.on("timeout", () => sent.destroy(new Error("the response has stopped")));
		sent.on("error", reject);
		sent.end(json && JSON.stringify(json));
	});
	const { statusCode: status = 0, statusMessage } = response;
	if (status >= 300) {
		const body = tryParseJson(await readText(response)) as { readonly error?: Message["error"] } | null | undefined;
		const { message = `${status} ${statusMessage}`, code: rpc, data } = body?.error ?? {};
		throw new GatewayError("rejected", message, { status, rpc, data });
	}
	return response;
}

/** The messages of a response: one as JSON, or a stream of events. */
export async function* messagesIn(response: IncomingMessage): AsyncGenerator<Message> {
	const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
	for await (const text of isStream ? eventsIn(response) : [await readText(response)]) {
		// An event without data has only an id.
		if (text !== "") {
			yield JSON.parse(text);
		}
	}
}

/** The data of each event in a response that is a stream of events. */
export async function* eventsIn(response: IncomingMessage): AsyncGenerator<string> {
	const events: string[] = [];
	const parser = createParser({ onEvent: ({ data }) => events.push(data) });
	for await (const chunk of response.setEncoding("utf8")) {
		parser.feed(chunk);
		yield* events.splice(0);
	}
}
