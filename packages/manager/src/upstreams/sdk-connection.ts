import {
	Client,
	type Implementation,
	ProtocolError,
	SdkError,
	SdkErrorCode,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { Questions } from "../core/asking.js";
import {
	type Capabilities,
	Connection,
	MAX_REQUEST_TIME,
	type PendingRequest,
	type Request,
} from "../core/connection.js";
import { messageOf, responseError, ServerError, shared } from "../core/errors.js";
import { LIST_CHANGES, type ListName } from "../core/offers.js";
import { CLIENT_METHODS } from "../core/results.js";
import { ChangeStream } from "../core/subscriptions.js";
import { headerProblem } from "../core/usable-schema.js";
import { MANAGER_INFO } from "../version.js";
import { ConfiguredTransport } from "./configured-transport.js";

/** A connection to a configured server, by the client of the official SDK. */
export class SdkConnection extends Connection {
	/** The transport in use: its fallback replaces it. */
	transport: ConfiguredTransport;
	readonly #controllers = new WeakMap<PendingRequest, AbortController>();
	#client: Client | undefined;
	#questions: Questions | undefined;
	/** Undefined if the server reports changes without a stream of their own: before 2026-07-28. */
	#changes: ChangeStream | undefined;
	/** Closes the connection if the server does not answer a ping in `timeout` ms. An error response proves that it works. */
	readonly check = shared(async (timeout: number): Promise<void> => {
		await this.ping(timeout).catch((error: Error) => {
			if (error instanceof ServerError && error.code === "timeout") {
				this.close("no response to a ping");
			}
		});
	});

	/**
	 * Makes a connection, which {@link initialize} opens.
	 *
	 * @param transport parameters of {@link ConfiguredTransport}
	 */
	constructor(...transport: ConstructorParameters<typeof ConfiguredTransport>) {
		const [{ id, transport: type }] = transport;
		super({ id, clientId: id, transport: type, configured: true });
		this.transport = this.#follow(new ConfiguredTransport(...transport));
	}

	/** @param refused why the first transport could not be used, if this is its fallback */
	#follow(transport: ConfiguredTransport, refused = ""): ConfiguredTransport {
		transport.onmessage = (message) => {
			if ("method" in message && /^notifications\/(progress|cancelled)$/.test(message.method)) {
				this.notified(message.method, message.params ?? {});
			}
		};
		transport.onclose = () => {
			if (transport.fallback === undefined) {
				this.ended((this.info === undefined && refused) || transport.closeReason);
			}
		};
		return transport;
	}

	override get revision(): string | undefined {
		return this.#client?.getNegotiatedProtocolVersion();
	}

	override get capabilities(): ServerCapabilities {
		return this.#client?.getServerCapabilities() ?? {};
	}

	override get isStateless(): boolean {
		return this.#isModern || super.isStateless;
	}

	/** Whether the revision is one without sessions: 2026-07-28 and later. */
	get #isModern(): boolean {
		return this.#client?.getProtocolEra() === "modern";
	}

	/** Since 2026-07-28, the handshake is `server/discover`: see {@link ConfiguredTransport.negotiation}. */
	override async initialize(capabilities: Capabilities = {}, info: Implementation = MANAGER_INFO): Promise<void> {
		try {
			await this.#connect(capabilities, info);
		} catch (error) {
			const { fallback, closeReason, onstderr } = this.transport;
			if (fallback === undefined) {
				throw error;
			}
			this.transport = this.#follow(Object.assign(fallback, { onstderr }), closeReason);
			await this.initialize(capabilities, info);
		}
	}

	async #connect(capabilities: Capabilities, info: Implementation): Promise<void> {
		const versionNegotiation = { mode: this.transport.negotiation };
		const client = new Client(info, { capabilities, versionNegotiation });
		client.onerror = ({ message }) => this.reject(message);
		client.fallbackNotificationHandler = async ({ method, params = {} }) => this.notified(method, params);
		this.#questions = new Questions(client, capabilities, this.pending);
		this.#client = client;
		await this.request({ method: "initialize" });
		if (this.#isModern) {
			this.#changes = new ChangeStream(client, () => {
				// Changes may have been missed: everything that can change is reported as changed.
				for (const method of LIST_CHANGES) {
					this.notified(method, {});
				}
			});
			await this.#changes.start();
		}
		// Since 2026-07-28 `serverInfo` is optional.
		const { name, version } = client.getServerVersion() ?? { name: this.identity.id, version: "" };
		this.info = { name, version };
	}

	/** Checks the connection, unless a request is in progress: a server that works on one may answer nothing else. */
	async checkIfIdle(timeout: number): Promise<void> {
		if (![...this.pending.values()].some(({ request }) => CLIENT_METHODS.has(request.method))) {
			await this.check(timeout);
		}
	}

	/** Checks the connection until it ends: after trouble of the transport, and at intervals while it is idle. */
	keepChecking(interval: number, timeout: number): void {
		this.transport.ontrouble = () => void this.check(timeout);
		const timer = setInterval(() => void this.checkIfIdle(timeout), interval);
		this.events.once("closed", () => clearInterval(timer));
	}

	override problemOf(list: ListName, item: Readonly<Record<string, unknown>>): string | undefined {
		const sendsHeaders = this.#isModern && this.identity.transport === "http";
		return list === "tools" && sendsHeaders ? headerProblem(item.inputSchema) : undefined;
	}

	override ended(reason: string): void {
		this.#changes?.close();
		super.ended(reason);
	}

	protected override write(pending: PendingRequest): void {
		const controller = new AbortController();
		this.#controllers.set(pending, controller);
		this.#questions
			?.during(pending, () => this.#send(pending, controller.signal))
			.then(
				(result) => pending.answered({ result }),
				(error: Error) => pending.fail(this.#errorOf(error, pending)),
			);
	}

	override cancelled(pending: PendingRequest, reason: string): void {
		this.#controllers.get(pending)?.abort(reason);
	}

	protected override disconnect(reason: string): void {
		void this.transport.close(reason);
	}

	/** Does nothing: the SDK rejects pending requests itself, except one that has just been answered. */
	protected override failPending(): void {}

	async #send(pending: PendingRequest, signal: AbortSignal): Promise<object> {
		const client = this.#client as Client;
		const { method, params, tool }: Request = pending.request;
		const options = {
			timeout: MAX_REQUEST_TIME,
			signal,
			...(pending.context.onProgress && { onprogress: (progress: object) => pending.progressed({ ...progress }) }),
		};
		if (method === "initialize") {
			await client.connect(this.transport, options);
			return {};
		}
		const { uri = "", name = "" } = (params ?? {}) as { readonly uri?: string; readonly name?: string };
		if (this.#changes !== undefined && /^resources\/(un)?subscribe$/.test(method)) {
			await this.#changes.follow(uri, method === "resources/subscribe");
			return {};
		}
		if (this.#isModern && method === "ping") {
			// 2026-07-28 has no ping.
			return await client.discover(options);
		}
		const all = { ...options, ...(this.#isModern && { allowInputRequired: true as const }) };
		if (this.#isModern && method === "tools/call") {
			// Unlike `request`, this also sends arguments as headers if the tool's schema requests that.
			const toolDefinition = { name, inputSchema: tool?.inputSchema ?? { type: "object" as const } };
			return await client.callTool({ ...params, name }, { ...all, allowInputRequired: true, toolDefinition });
		}
		return await client.request({ method, ...(params && { params: { ...params } }) }, z.looseObject({}), all);
	}

	/** Converts an error of the SDK. An error response of the server stays; anything else becomes a ServerError. */
	#errorOf(error: Error, { request: { method }, timeout }: PendingRequest): Error {
		if (ProtocolError.isInstance(error)) {
			return responseError(error);
		}
		if (error instanceof ServerError) {
			return error;
		}
		if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
			return new ServerError("timeout", `no answer to ${method} within ${timeout} ms`, { cause: error });
		}
		return this.isOpen
			? new ServerError("invalid-result", `${method}: ${messageOf(error)}`, { cause: error })
			: this.lost;
	}
}
