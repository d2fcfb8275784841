import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { backoff } from "xs-mcp-manager/core";
import type { Channel } from "../mcp/client-request.js";
import { watchLiveness } from "../net/listener.js";
import { EndpointChannel, type MessageHandler } from "./endpoint-channel.js";

export interface EndpointOptions {
	/** `wss://HOST/mcp/?token=…`. Its query is secret. */
	readonly url: string;
	/** Serves the client of one connection. */
	readonly open: (channel: Channel) => MessageHandler;
	/** Is told when the connection opens and ends; never of the URL's query. */
	readonly onChange: (text: string) => void;
	/** Milliseconds before the second attempt; later ones wait twice as long each, up to a minute. Default 1,000. */
	readonly retryDelay?: number;
	/** Milliseconds between pings. An endpoint that sends nothing from one to the next is disconnected. Default 30,000. */
	readonly pingInterval?: number;
}

const MAX_RETRY_DELAY = 60_000;

/** Milliseconds after which a connection counts as good, so that the next attempt comes soon. */
const GOOD_TIME = 60_000;

const HANDSHAKE_TIMEOUT = 10_000;

/** Bytes that a message of the endpoint's may have. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * An endpoint that hosted agents reach tools by: the gateway connects to it, and serves MCP over that connection. Connects
 * again, forever, with growing delays.
 */
export class Endpoint {
	readonly #options: EndpointOptions;
	readonly #stopping = new AbortController();
	readonly #done: Promise<void>;
	#socket: WebSocket | undefined;

	/** Begins to connect. */
	constructor(options: EndpointOptions) {
		this.#options = options;
		this.#done = this.#run();
	}

	/** Disconnects, and does not connect again. */
	async close(): Promise<void> {
		this.#stopping.abort();
		this.#socket?.terminate();
		await this.#done;
	}

	async #run(): Promise<void> {
		const { onChange, retryDelay = 1_000 } = this.#options;
		const { signal } = this.#stopping;
		let failures = 0;
		while (!signal.aborted) {
			const start = performance.now();
			const reason = await this.#connectOnce();
			failures = performance.now() - start > GOOD_TIME ? 1 : failures + 1;
			if (!signal.aborted) {
				const wait = backoff({ initialDelay: retryDelay, maxDelay: MAX_RETRY_DELAY }, failures - 1);
				onChange(`${this.#name}: ${reason}; retrying in ${(wait / 1000).toFixed(1)} s`);
				await delay(wait, undefined, { signal }).catch(() => {});
			}
		}
	}

	/** Resolves when the connection has ended, with the reason. */
	async #connectOnce(): Promise<string> {
		const socket = new WebSocket(this.#options.url, {
			handshakeTimeout: HANDSHAKE_TIMEOUT,
			maxPayload: MAX_MESSAGE_BYTES,
			perMessageDeflate: false,
			// One message in a turn of the event loop: an answer is sent in a promise job.
			allowSynchronousEvents: false,
		});
		this.#socket = socket;
		let failure = "";
		socket.on("error", ({ message }) => {
			failure = message;
		});
		socket.once("open", () => this.#serve(socket));
		return await new Promise((resolve) => {
			socket.once("close", (code, reason) => {
				const told = reason.toString().replace(/\p{Cc}/gu, " ");
				const closed = `disconnected (${code}${told === "" ? "" : `, ${told}`})`;
				resolve(failure === "" ? closed : `not connected: ${failure}`);
			});
		});
	}

	#serve(socket: WebSocket): void {
		const { open, onChange, pingInterval } = this.#options;
		onChange(`${this.#name}: connected`);
		watchLiveness(socket, pingInterval);
		new EndpointChannel(socket, open);
	}

	/** Tells endpoints apart in a log, without the token. */
	get #name(): string {
		const { host, pathname } = new URL(this.#options.url);
		return `endpoint ${host}${pathname}`;
	}
}
