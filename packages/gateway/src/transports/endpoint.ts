import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { backoff } from "xs-mcp-manager/core";
import { watchLiveness } from "../http/listener.js";
import type { Channel } from "../mcp/client-request.js";
import { type MessageHandler, serveEndpoint } from "./endpoint-channel.js";

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
				const told = reason.toString().replace(/\p{Cc}/gu, " ");
				const closed = `disconnected (${code}${told === "" ? "" : `, ${told}`})`;
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
