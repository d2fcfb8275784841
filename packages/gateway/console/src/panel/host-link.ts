// The view's side of MCP Apps (2026-01-26): JSON-RPC by postMessage with the application that shows the page. Not the
// package's own `App`: with its schemas it is three times as large as this page may be.
import type { CallToolResult } from "@modelcontextprotocol/client";

/** The host's context, and the call that the page belongs to. */
interface HostContext {
	readonly theme?: "light" | "dark";
	readonly locale?: string;
	readonly toolInfo?: { readonly tool: { readonly name: string } };
}

interface Initialized {
	readonly hostContext?: HostContext;
	readonly hostCapabilities?: { readonly serverResources?: object };
}

interface Message {
	readonly id?: number | string;
	readonly method?: string;
	readonly params?: unknown;
	readonly result?: unknown;
	readonly error?: { readonly message?: string };
}

const REVISION = "2026-01-26";

/** The application that shows the page: every call of a tool goes through it. */
export class HostLink {
	readonly #onContext: (context: HostContext) => void;
	readonly #onResult: (result: CallToolResult) => void;
	readonly #waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
	#id = 0;
	#readsResources = false;

	constructor(onContext: (context: HostContext) => void, onResult: (result: CallToolResult) => void) {
		this.#onContext = onContext;
		this.#onResult = onResult;
		addEventListener("message", ({ source, data }) => {
			if (source === parent) {
				this.#receive(data as Message);
			}
		});
	}

	/** Says who this is, and tells the host from now on how high the page is. */
	async open(): Promise<void> {
		const { hostContext, hostCapabilities } = await this.#ask<Initialized>("ui/initialize", {
			protocolVersion: REVISION,
			appInfo: { name: "xs-mcp-device", version: "1.0.0" },
			appCapabilities: {},
		});
		this.#readsResources = hostCapabilities?.serverResources !== undefined;
		this.#onContext(hostContext ?? {});
		this.#send({ method: "ui/notifications/initialized", params: {} });
		const element = document.documentElement;
		new ResizeObserver(() => {
			const { width, height } = element.getBoundingClientRect();
			this.#send({
				method: "ui/notifications/size-changed",
				params: { width: Math.ceil(width), height: Math.ceil(height) },
			});
		}).observe(element);
	}

	/** Calls a tool of the server. Rejects with what the host says. */
	async call(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
		return await this.#ask("tools/call", { name, arguments: args });
	}

	/** Reads a text resource of the server. Undefined if the host reads none. Rejects with what the host says. */
	async read(uri: string): Promise<string | undefined> {
		if (!this.#readsResources) {
			return undefined;
		}
		const { contents } = await this.#ask<{ contents?: readonly { text?: string }[] }>("resources/read", { uri });
		return contents?.[0]?.text;
	}

	#ask<T>(method: string, params: object): Promise<T> {
		this.#id += 1;
		const id = this.#id;
		return new Promise<T>((resolve, reject) => {
			this.#waiting.set(id, { resolve, reject });
			this.#send({ id, method, params });
		});
	}

	#receive({ id, method, params, result, error }: Message): void {
		if (method === undefined) {
			const request = this.#waiting.get(id as number);
			this.#waiting.delete(id as number);
			if (error === undefined) {
				request?.resolve(result as never);
			} else {
				request?.reject(new Error(error.message ?? "the host has rejected the request"));
			}
		} else if (method === "ui/notifications/host-context-changed") {
			this.#onContext(params as HostContext);
		} else if (method === "ui/notifications/tool-result") {
			this.#onResult(params as CallToolResult);
		} else if (id !== undefined) {
			// "ui/resource-teardown" and "ping": nothing is to be saved.
			this.#send({ id, result: {} });
		}
	}

	#send(message: Message): void {
		// The host may have any origin, and every message of this page is for it.
		parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
	}
}
