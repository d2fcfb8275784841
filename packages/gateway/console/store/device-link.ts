import {
	type CallToolResult,
	Client,
	type ProgressCallback,
	SdkHttpError,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { signal } from "@preact/signals";
import type { LoggedMessage } from "../../src/history/history.js";
import { Device, plain } from "./device.js";
import { ask, checkSession, pathOf, session } from "./session.js";

/** Milliseconds that a call may take without progress: the gateway's own limits are shorter. */
const PATIENCE = 300_000;

/** Milliseconds until another attempt to connect. */
const RETRY_DELAY = 2_000;

/** Lines of a device's log that are kept. */
const MAX_LOG = 300;

/** The name by which pages of the console are clients. */
export const CONSOLE_CLIENT = "xs-mcp-console";

/** One device, as an MCP client sees it through the gateway's endpoint. */
export class DeviceLink extends Device {
	/** Reason why it could not be connected; empty if it could. */
	readonly problem = signal("");
	readonly log = signal<readonly LoggedMessage[]>([]);
	#client: Client | undefined;
	#transport: StreamableHTTPClientTransport | undefined;
	#isClosed = false;
	#retry: ReturnType<typeof setTimeout> | undefined;

	/** Connects, and lists the tools. Tries again until it is closed. */
	async open(): Promise<void> {
		this.#isClosed = false;
		addEventListener("pagehide", this.#end);
		try {
			await this.#client?.close().catch(() => {});
			// Sessions of this revision bring the device's log.
			const client = new Client(clientInfo(), { versionNegotiation: { mode: "legacy" } });
			client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
				const text = typeof data === "string" ? data : JSON.stringify(data);
				const line = { time: Date.now(), level, text: logger === undefined ? text : `${logger}: ${text}` };
				this.log.value = [line, ...this.log.value].slice(0, MAX_LOG);
			});
			client.setNotificationHandler("notifications/tools/list_changed", () => this.#list());
			this.#client = client;
			const endpoint = new URL(`mcp/${encodeURIComponent(this.alias)}?catalog=full`, document.baseURI);
			this.#transport = new StreamableHTTPClientTransport(endpoint, {
				// The end of a session is sent even while the page is closed.
				fetch: (url, init) => fetch(url, { ...init, keepalive: init?.method === "DELETE" }),
			});
			await this.#readLog();
			await client.connect(this.#transport);
			await this.#list();
			this.problem.value = "";
			// A device that keeps no log is used all the same.
			await client.setLoggingLevel("debug").catch(() => {});
		} catch (error) {
			if (!this.#isClosed) {
				this.problem.value = (error as Error).message;
				this.#reopen(RETRY_DELAY);
				// Perhaps the session has ended.
				await checkSession().catch(() => {});
			}
		}
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#retry);
		removeEventListener("pagehide", this.#end);
		this.#end();
	}

	#reopen(delay: number): void {
		clearTimeout(this.#retry);
		if (!this.#isClosed) {
			this.#retry = setTimeout(() => void this.open(), delay);
		}
	}

	/** Ends the session: otherwise the gateway would keep it, as another client, until it has been idle for long. */
	readonly #end = (): void => {
		const client = this.#client;
		void this.#transport
			?.terminateSession()
			.catch(() => {})
			.finally(() => client?.close().catch(() => {}));
	};

	protected async ask(
		name: string,
		args: Record<string, unknown>,
		onProgress?: (text: string) => void,
	): Promise<CallToolResult> {
		const onprogress: ProgressCallback | undefined =
			onProgress &&
			(({ progress, total, message = "" }) =>
				onProgress(`${progress}${total === undefined ? "" : ` / ${total}`} ${message}`));
		const options = { timeout: PATIENCE, resetTimeoutOnProgress: true, ...(onprogress && { onprogress }) };
		try {
			return (await this.#client?.callTool({ name, arguments: args }, options)) as CallToolResult;
		} catch (error) {
			// Perhaps the session has ended: the page's, or that of MCP, which the gateway closes when it is idle for long.
			if ((await checkSession().catch(() => false)) && error instanceof SdkHttpError && error.status === 404) {
				this.#reopen(0);
			}
			throw error;
		}
	}

	/** Reads the log that the gateway keeps. It may keep none, or not for this token. */
	async #readLog(): Promise<void> {
		if (session.value?.operator) {
			const read = ask<{ messages: readonly LoggedMessage[] }>(`${pathOf(this.alias)}/log`);
			const { messages } = await read.catch(() => ({ messages: [] }));
			this.log.value = messages.length === 0 ? this.log.value : messages.slice(0, MAX_LOG);
		}
	}

	async #list(): Promise<void> {
		const { tools } = (await this.#client?.listTools()) ?? { tools: [] };
		this.tools.value = tools;
	}
}

/** Endpoint that lists tools which devices share once. */
const GROUPS = "mcp?catalog=groups";

/** The tools that several devices share, each called once for the devices that its argument `devices` names. */
export class GroupLink extends Device {
	/** Lists the tools. Rejects with the client's errors. */
	async open(): Promise<void> {
		const { tools } = await withGateway((client) => client.listTools(), GROUPS);
		this.tools.value = tools.filter(
			({ inputSchema: { required, properties } }) => required?.[0] === "devices" && properties?.devices,
		);
	}

	protected async ask(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
		return await callTool(name, args, GROUPS);
	}

	/** Reads nothing: the status belongs to one device. */
	override async readStatus(): Promise<void> {}
}

/** A device of the start page. Each call is a separate request; the gateway's stream brings the status. */
export class RowLink extends Device {
	protected async ask(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
		return await callTool(`${this.alias}__${plain(name)}`, args);
	}
}

/** Makes a device say a text. */
export async function sayOn(alias: string, text: string): Promise<CallToolResult> {
	return await callTool("say", { text, devices: [alias] });
}

async function callTool(name: string, args: Record<string, unknown>, endpoint?: string): Promise<CallToolResult> {
	return await withGateway((client) => client.callTool({ name, arguments: args }, { timeout: PATIENCE }), endpoint);
}

/** Makes a request of the events extension, of all devices. */
export async function askEvents<T>(method: string, params: Record<string, unknown> = {}): Promise<T> {
	return await withGateway(async (client) => (await client.request({ method, params }, ANYTHING)) as T);
}

async function withGateway<T>(use: (client: Client) => Promise<T>, endpoint = "mcp"): Promise<T> {
	const client = new Client(clientInfo(), { versionNegotiation: { mode: { pin: "2026-07-28" } } });
	try {
		await client.connect(new StreamableHTTPClientTransport(new URL(endpoint, document.baseURI)));
		return await use(client);
	} finally {
		await client.close().catch(() => {});
	}
}

/** A schema (Standard Schema) of the gateway's own answers, which need no check. */
const ANYTHING = {
	"~standard": { version: 1, vendor: "xs-mcp", validate: (value: unknown) => ({ value }) },
} as const;

function clientInfo() {
	return { name: CONSOLE_CLIENT, version: session.value?.version ?? "0" };
}
