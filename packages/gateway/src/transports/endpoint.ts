import { setTimeout as delay } from "node:timers/promises";
import { type CallToolResult, ProtocolErrorCode, type RequestId } from "@modelcontextprotocol/server";
import { WebSocket } from "ws";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { backoff, failedResult, jsonIn, readClientMessage, SERVER_ERROR } from "xs-mcp-manager/core";
import { MAX_PAGE_BYTES } from "../catalog/pages.js";
import { watchLiveness } from "../http/listener.js";
import type { Client } from "../mcp/client.js";
import { type Channel, isMessage } from "../mcp/client-request.js";

const MAX_RETRY_DELAY = 60_000;

/** Milliseconds after which a connection counts as good, so that the next attempt comes soon. */
const GOOD_TIME = 60_000;

const HANDSHAKE_TIMEOUT = 10_000;

/** Bytes that a message of the endpoint's may have. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * Connects to an endpoint that hosted agents reach tools by, and serves MCP over that connection. Connects again, forever, with growing
 * delays.
 *
 * @param url `wss://HOST/mcp/?token=…`. Its query is secret
 * @param open serves the client of one connection
 * @param onChange called when the connection opens and ends; never with the URL's query
 * @param retryDelay milliseconds before the second attempt; later ones wait twice as long each, up to a minute
 * @param pingInterval milliseconds; an endpoint that sends nothing from one ping to the next is disconnected. Default 30,000
 * @returns a function that disconnects, and does not connect again
 */
export function connectEndpoint(
	url: string,
	open: (channel: Channel) => MessageHandler,
	onChange: (text: string) => void,
	retryDelay = 1_000,
	pingInterval?: number,
): () => Promise<void> {
	const { host, pathname } = new URL(url);
	const name = `endpoint ${host}${pathname}`;
	const stopping = new AbortController();
	const { signal } = stopping;
	let socket: WebSocket | undefined;
	/** Resolves when the connection has ended, with the reason. */
	const connectOnce = (): Promise<string> => {
		const opened = new WebSocket(url, {
			handshakeTimeout: HANDSHAKE_TIMEOUT,
			maxPayload: MAX_MESSAGE_BYTES,
			perMessageDeflate: false,
			// One message in a turn of the event loop: an answer is sent in a promise job.
			allowSynchronousEvents: false,
		});
		socket = opened;
		let failure = "";
		opened.on("error", ({ message }) => {
			failure = message;
		});
		opened.once("open", () => {
			onChange(`${name}: connected`);
			watchLiveness(opened, pingInterval);
			serveEndpoint(opened, open);
		});
		return new Promise((resolve) => {
			opened.once("close", (code, reason) => {
				const text = reason.toString().replace(/\p{Cc}/gu, " ");
				const closed = `disconnected (${code}${text === "" ? "" : `, ${text}`})`;
				resolve(failure === "" ? closed : `not connected: ${failure}`);
			});
		});
	};
	const run = async (): Promise<void> => {
		let failures = 0;
		while (!signal.aborted) {
			const start = performance.now();
			const reason = await connectOnce();
			failures = performance.now() - start > GOOD_TIME ? 1 : failures + 1;
			if (!signal.aborted) {
				const wait = backoff({ initialDelay: retryDelay, maxDelay: MAX_RETRY_DELAY }, failures - 1);
				onChange(`${name}: ${reason}; retrying in ${(wait / 1000).toFixed(1)} s`);
				await delay(wait, undefined, { signal }).catch(() => {});
			}
		}
	};
	const done = run();
	return async () => {
		stopping.abort();
		socket?.terminate();
		await done;
	};
}

/** Bytes of a message: what the family's hosted agents accept. */
const MAX_BYTES = 8_000;

/** Requests of an endpoint that may be in progress. */
const MAX_REQUESTS = 64;

/** Bytes that may wait to be sent. Beyond that it is disconnected. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Lists that have pages: the server is asked for those that fit. */
const LISTS: ReadonlySet<string> = new Set(["tools/list", "resources/list"]);

type Message = Readonly<Record<string, unknown>>;

/** Serves the client of one connection. */
type MessageHandler = Pick<Client, "receive" | "close">;

/**
 * Serves bare JSON-RPC over a WebSocket that the gateway has opened: it is the MCP server, and whoever accepted the connection the
 * client. No message to that client is larger than {@link MAX_BYTES}: lists come in smaller pages, and a larger result becomes a
 * failed call that says so.
 */
function serveEndpoint(socket: WebSocket, open: (channel: Channel) => MessageHandler): void {
	/** The ids of requests in progress. */
	const requests = new Set<unknown>();
	const write = (message: object): void => {
		if (socket.readyState === WebSocket.OPEN) {
			socket.send(JSON.stringify(message));
		}
		if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
			socket.terminate();
		}
	};
	const reject = (id: RequestId, code: number, message: string): void =>
		write({ jsonrpc: "2.0", id, error: { code, message } });
	const handler = open({
		send(message) {
			const { id, result, error } = message as Message;
			if (result !== undefined || error !== undefined) {
				requests.delete(id);
			}
			write(isObject(result) ? withinLimit(id as RequestId, result) : message);
		},
		settle: (id) => void requests.delete(id),
	});
	socket.on("message", (data: Buffer) => {
		const message = readClientMessage(jsonIn(data.toString()));
		if (!isMessage(message)) {
			return;
		}
		if (!("method" in message) || !("id" in message)) {
			handler.receive(message);
			return;
		}
		const { id, method, params } = message;
		if (requests.has(id)) {
			reject(id, ProtocolErrorCode.InvalidRequest, `the id ${JSON.stringify(id)} is already in use`);
		} else if (requests.size >= MAX_REQUESTS) {
			reject(id, SERVER_ERROR, `too many requests in progress (limit ${MAX_REQUESTS})`);
		} else {
			const _meta = { ...params?._meta, [MAX_PAGE_BYTES]: MAX_BYTES };
			requests.add(id);
			handler.receive(LISTS.has(method) ? { ...message, params: { ...params, _meta } } : message);
		}
	});
	socket.on("close", () => handler.close());
}

/** A response that fits: without pictures and sounds if need be, else an error that says so. */
function withinLimit(id: RequestId, result: Message): object {
	const { content } = result;
	const response = { jsonrpc: "2.0", id, result };
	if (!Array.isArray(content)) {
		const bytes = byteLength(response);
		const message = `response too large for this endpoint: ${bytes} bytes (limit ${MAX_BYTES})`;
		return bytes <= MAX_BYTES
			? response
			: { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } };
	}
	const whole = withError(result as CallToolResult);
	const text =
		`The tool was called, but its result of ${byteLength(whole)} bytes is too large for this endpoint, which takes at ` +
		`most ${MAX_BYTES}.`;
	const withoutMedia = (content as CallToolResult["content"]).map((block) =>
		block.type === "image" || block.type === "audio"
			? { type: "text" as const, text: `(${block.mimeType}: omitted, too large for this endpoint)` }
			: block,
	);
	const candidates = [whole, withError({ ...result, content: withoutMedia }), withError(failedResult(text))];
	const responses = candidates.map((candidate) => ({ ...response, result: candidate }));
	return responses.find((each) => byteLength(each) <= MAX_BYTES) ?? (responses[2] as object);
}

/** Backends of the family read the reason of a failed call from a member `error` of the result. */
function withError(result: CallToolResult): CallToolResult {
	const [first] = result.content;
	return result.isError && first?.type === "text" ? { ...result, error: first.text } : result;
}

function byteLength(value: object): number {
	return Buffer.byteLength(JSON.stringify(value));
}
