import { EventEmitter, once } from "node:events";
import { isInputRequiredResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { Request, RequestContext } from "../core/connection.js";
import { ServerError, shared } from "../core/errors.js";
import { LIST_CHANGES, LISTS, type ListName, type Offers, validList } from "../core/offers.js";
import type { Complete, Results } from "../core/results.js";
import { SdkConnection } from "../upstreams/sdk-connection.js";
import type { ServerConfig } from "../upstreams/server-config.js";

/** Times in milliseconds. A ping and a new connection over a network take less than the 10 s after which models and people give up. */
export const UPSTREAM_TIMING = {
	/** For connecting over a network. */
	connect: 6_000,
	/** For starting a command and connecting to it. */
	start: 10_000,
	/** Limit for connecting before a list, and then for its answer. The host waits for both. */
	list: 5_000,
	/** For the answer to a ping. */
	ping: 3_000,
	/** Between pings while no request is pending. */
	pingInterval: 30_000,
};
export type UpstreamTiming = typeof UPSTREAM_TIMING;

/** Warnings that are reported: an upstream may cause thousands. */
const MAX_WARNINGS = 1_000;

interface UpstreamEvents {
	/** The method of its notification. */
	listChanged: [method: string];
	/** A list cannot be read, or the upstream cannot be reached: once for each reason. */
	warning: [message: string];
}

/** The MCP server behind the proxy: at most one connection at a time, and its lists from the last read. */
export class Upstream extends EventEmitter<UpstreamEvents> {
	readonly #config: ServerConfig;
	readonly #timing: UpstreamTiming;
	#connection: SdkConnection | undefined;
	/** Connects, unless it is connected. Rejects with an Error that gives the reason. */
	readonly connect = shared(() => this.#connect());
	/** Ends the connection, or the last one. */
	#close = async (_reason: string): Promise<void> => {};
	lostReason = "not connected yet";
	#lists: Partial<Offers> = {};
	readonly #warnings = new Set<string>();
	/** Reads in progress, shared while there is no connection. */
	readonly #reading = new Map<ListName, Promise<Offers[ListName]>>();

	constructor(config: ServerConfig, timing: UpstreamTiming) {
		super();
		this.#config = config;
		this.#timing = timing;
	}

	get isConnected(): boolean {
		return this.#connection !== undefined;
	}

	/** Closes the connection if the upstream does not answer. */
	async check(): Promise<void> {
		await this.#connection?.check(this.#timing.ping);
	}

	/**
	 * Makes a request, after a ping: an upstream that hangs would not answer it either.
	 *
	 * Rejects as {@link SdkConnection.request} does, and with ServerError "server-offline" if there is no connection.
	 */
	async request<Method extends keyof Results>(
		request: Request<Method>,
		context: RequestContext = {},
	): Promise<Complete<Results[Method]>> {
		await this.#connection?.checkIfIdle(this.#timing.ping);
		if (this.#connection === undefined) {
			throw new ServerError("server-offline", this.lostReason);
		}
		const result: object = await this.#connection.request(request, { timeout: this.#config.timeout, ...context });
		if (isInputRequiredResult(result)) {
			throw new ServerError("invalid-result", "the upstream requires input, which the proxy does not support");
		}
		return result as Complete<Results[Method]>;
	}

	/** Ends the connection. Settles after telling the upstream, or failing to. */
	async disconnect(reason: string): Promise<void> {
		await this.#close(reason);
	}

	async #connect(): Promise<void> {
		if (this.#connection !== undefined) {
			return;
		}
		const { connect, start, ping, pingInterval } = this.#timing;
		const connection = await this.#open(this.#config.transport === "stdio" ? start : connect);
		if (!connection.isOpen) {
			throw new Error("the connection closed immediately");
		}
		this.#connection = connection;
		this.#close = (reason) => connection.transport.close(reason);
		connection.keepChecking(pingInterval, ping);
		connection.events.on("notification", (method) => {
			if (LIST_CHANGES.has(method)) {
				this.emit("listChanged", method);
			}
		});
		connection.events.once("closed", (reason) => {
			this.#connection = undefined;
			this.lostReason = reason;
		});
	}

	/**
	 * Reads a list; one that the upstream does not declare is empty. Concurrent calls without a connection share one read.
	 * Rejects with ProtocolError if it cannot be read, and never has been.
	 *
	 * @param connects whether a connection that is opened for it stays open
	 * @returns the list from its last successful read
	 */
	async list<List extends ListName>(list: List, connects: boolean): Promise<Offers[List]> {
		const shared = this.#connection === undefined ? this.#reading.get(list) : undefined;
		const reading = shared ?? this.#read(list, connects).finally(() => this.#reading.delete(list));
		this.#reading.set(list, reading);
		return (await reading) as Offers[List];
	}

	async #read(list: ListName, connects: boolean): Promise<Offers[ListName]> {
		const { method, capability } = LISTS[list];
		const time = this.#timing.list;
		let signal: AbortSignal | undefined;
		let passing: SdkConnection | undefined;
		try {
			if (connects) {
				const late = once(AbortSignal.timeout(time), "abort").then(() => {
					throw new Error(`no answer within ${time} ms`);
				});
				// Calls share the attempt, and may wait longer.
				await Promise.race([this.connect(), late]);
			}
			passing = this.#connection === undefined ? await this.#open(time) : undefined;
			const connection = (passing ?? this.#connection) as SdkConnection;
			signal = AbortSignal.timeout(time);
			const isDeclared = list === "tools" || connection.declares(capability);
			const { items, problems } = validList(list, isDeclared ? await connection.list(list, signal) : []);
			this.#lists = { ...this.#lists, [list]: items };
			for (const problem of problems) {
				this.#report(`${method} of the upstream: ${problem}`);
			}
			return items;
		} catch (error) {
			const code = ProtocolError.isInstance(error) ? error.code : ProtocolErrorCode.InternalError;
			const reason = signal?.aborted ? `no answer within ${time} ms` : (error as Error).message;
			const text = signal ? `${method} of the upstream failed: ${reason}` : `the upstream cannot be reached: ${reason}`;
			this.#report(signal ? `${text}; the other lists are not affected` : text);
			// Templates are optional for a server with resources, and some servers declare lists that they do not have.
			const isUnknown = list !== "tools" && code === ProtocolErrorCode.MethodNotFound;
			const items = isUnknown ? [] : this.#lists[list];
			if (items === undefined) {
				throw new ProtocolError(code, text);
			}
			return items;
		} finally {
			passing?.close("the list was read");
		}
	}

	/** Emits each warning once. */
	#report(message: string): void {
		if (!this.#warnings.has(message) && this.#warnings.size < MAX_WARNINGS) {
			this.#warnings.add(message);
			this.emit("warning", message);
		}
	}

	/** Opens a connection. Rejects with the reason if that fails or takes longer than `timeout` milliseconds. */
	async #open(timeout: number): Promise<SdkConnection> {
		const { connect, list } = this.#timing;
		const connection = new SdkConnection(this.#config, undefined, Math.min(connect, list) / 2);
		const late = () => connection.close(`no answer within ${timeout} ms${connection.transport.trouble}`);
		const timer = setTimeout(late, timeout);
		let closeReason = "";
		connection.events.once("closed", (reason) => {
			closeReason = reason;
		});
		try {
			await connection.initialize();
			return connection;
		} catch (error) {
			throw new Error(closeReason || (error as Error).message, { cause: error });
		} finally {
			clearTimeout(timer);
		}
	}
}
