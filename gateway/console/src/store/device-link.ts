import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import { batch, computed, signal } from "@preact/signals";
import { checkSession, session } from "./session.js";

/** Milliseconds that a call may take without progress: the gateway's own limits are shorter. */
const PATIENCE = 300_000;

/** Lines of a device's log, and values of one series, that are kept. */
const MAX_LOG = 300;
const MAX_POINTS = 300;

/** The tool that reads what a device's parts are at, by its name without special characters. */
const STATUS_TOOL = /(^|_)get_device_status$/;

/** A line of a device's own log. */
export interface LogLine {
	readonly time: number;
	readonly level: string;
	readonly text: string;
}

/** How a call ended. */
export interface Outcome {
	readonly result?: CallToolResult;
	/** Why there is no result. */
	readonly error?: string;
	/** Milliseconds. */
	readonly duration: number;
}

/** A picture that a tool has returned. */
export interface Picture {
	readonly source: string;
	readonly time: number;
	readonly tool: string;
}

/** A number that changes: seconds since 1970, and values. */
export interface Series {
	readonly times: readonly number[];
	readonly values: readonly number[];
}

/** One device, as an MCP client sees it through the gateway's endpoint. */
export class DeviceLink {
	readonly alias: string;
	readonly tools = signal<readonly Tool[] | undefined>(undefined);
	/** Why it could not be connected. */
	readonly problem = signal("");
	/** What its status tool last said. */
	readonly status = signal<object>({});
	readonly series = signal<ReadonlyMap<string, Series>>(new Map());
	readonly picture = signal<Picture | undefined>(undefined);
	readonly log = signal<readonly LogLine[]>([]);
	readonly statusTool = computed(() => this.tools.value?.find(({ name }) => STATUS_TOOL.test(plain(name))));
	#client: Client | undefined;
	#isClosed = false;

	constructor(alias: string) {
		this.alias = alias;
	}

	/** Connects, lists the tools, reads the status and follows the device. */
	async open(): Promise<void> {
		this.#isClosed = false;
		this.problem.value = "";
		try {
			const client = this.#createClient();
			this.#client = client;
			await client.connect(transportTo(this.alias));
			await this.#list();
			// A device that keeps no log, or has no state of its own, is used all the same.
			await client.setLoggingLevel("debug").catch(() => {});
			await client.subscribeResource({ uri: `device://${this.alias}/state` }).catch(() => {});
			await this.readStatus();
		} catch (error) {
			if (!this.#isClosed) {
				this.problem.value = (error as Error).message;
				// Perhaps the session has ended.
				await checkSession().catch(() => {});
			}
		}
	}

	close(): void {
		this.#isClosed = true;
		void this.#client?.close().catch(() => {});
	}

	/** Calls a tool. Never rejects. */
	async call(name: string, args: Record<string, unknown>, onProgress?: (text: string) => void): Promise<Outcome> {
		const begin = performance.now();
		const ended = (): number => Math.round(performance.now() - begin);
		try {
			const result = (await this.#client?.callTool(
				{ name, arguments: args },
				{
					timeout: PATIENCE,
					resetTimeoutOnProgress: true,
					...(onProgress && {
						onprogress: ({ progress, total, message = "" }) =>
							onProgress(`${progress}${total === undefined ? "" : ` / ${total}`} ${message}`),
					}),
				},
			)) as CallToolResult;
			this.#keepPicture(name, result);
			return { result, duration: ended() };
		} catch (error) {
			await checkSession().catch(() => {});
			return { error: (error as Error).message, duration: ended() };
		}
	}

	/** Reads the status, if the device has a tool for it. */
	async readStatus(): Promise<void> {
		const tool = this.statusTool.value;
		if (tool === undefined) {
			return;
		}
		const { result } = await this.call(tool.name, {});
		const status = result && !result.isError ? objectIn(result) : undefined;
		if (status !== undefined) {
			batch(() => {
				this.status.value = status;
				this.#plot(numbersIn(status));
			});
		}
	}

	#createClient(): Client {
		// Sessions of this revision bring the device's log.
		const client = new Client(clientInfo(), { versionNegotiation: { mode: "legacy" } });
		client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
			const text = typeof data === "string" ? data : JSON.stringify(data);
			const line = { time: Date.now(), level, text: logger === undefined ? text : `${logger}: ${text}` };
			this.log.value = [line, ...this.log.value].slice(0, MAX_LOG);
		});
		client.setNotificationHandler("notifications/tools/list_changed", () => this.#list());
		client.setNotificationHandler("notifications/resources/updated", ({ params }) => this.#updated(params._meta));
		return client;
	}

	async #list(): Promise<void> {
		const { tools } = (await this.#client?.listTools()) ?? { tools: [] };
		this.tools.value = tools;
	}

	/** The device's state has changed. If a sensor is the cause, the gateway says which, and its value. */
	#updated(meta: Record<string, unknown> | undefined): void {
		const { params } = (meta?.["xs-mcp/notification"] ?? {}) as { params?: { sensor?: unknown; value?: unknown } };
		if (typeof params?.sensor === "string") {
			this.#plot(numbersIn({ sensors: { [params.sensor]: { value: params.value } } }));
		}
	}

	#plot(numbers: ReadonlyMap<string, number>): void {
		const series = new Map(this.series.value);
		const time = Date.now() / 1_000;
		for (const [name, value] of numbers) {
			const { times, values } = series.get(name) ?? { times: [], values: [] };
			series.set(name, { times: [...times, time].slice(-MAX_POINTS), values: [...values, value].slice(-MAX_POINTS) });
		}
		this.series.value = series;
	}

	#keepPicture(tool: string, { content = [] }: Partial<CallToolResult> = {}): void {
		for (const block of content) {
			if (block.type === "image") {
				this.picture.value = { source: pictureSource(block), time: Date.now(), tool };
			}
		}
	}
}

/**
 * Uses a device for a moment, without a session: of the few connections that a browser opens to one host, none stays open.
 *
 * @param name alias or id
 */
export async function withDevice<T>(name: string, use: (client: Client) => Promise<T>): Promise<T> {
	const client = new Client(clientInfo(), { versionNegotiation: { mode: { pin: "2026-07-28" } } });
	try {
		await client.connect(transportTo(name));
		return await use(client);
	} finally {
		await client.close().catch(() => {});
	}
}

/** The gateway's endpoint for one device. */
function transportTo(name: string): StreamableHTTPClientTransport {
	return new StreamableHTTPClientTransport(new URL(`mcp/${encodeURIComponent(name)}?catalog=full`, document.baseURI));
}

function clientInfo() {
	return { name: "xs-mcp-console", version: session.value?.version ?? "0" };
}

/** A name as portable names have it: "self.light.set" is "self_light_set". */
export function plain(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The tool of this name, written as {@link plain} writes it. */
export function toolNamed(tools: readonly Tool[] | undefined, name: string): Tool | undefined {
	return tools?.find((tool) => plain(tool.name) === name);
}

/** The data URL of a picture; empty for types that are not plain images, such as SVG. */
export function pictureSource({ mimeType, data }: { readonly mimeType: string; readonly data: string }): string {
	const isKnown = /^image\/(jpeg|png|gif|webp|bmp)$/.test(mimeType) && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data);
	return isKnown ? `data:${mimeType};base64,${data}` : "";
}

/** The object that a result has, structured or as the JSON of its only text. */
export function objectIn({ structuredContent, content = [] }: Partial<CallToolResult>): object | undefined {
	if (typeof structuredContent === "object" && structuredContent !== null) {
		return structuredContent;
	}
	const [only, ...others] = content;
	if (only?.type !== "text" || others.length > 0) {
		return undefined;
	}
	try {
		const value: unknown = JSON.parse(only.text);
		return typeof value === "object" && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Levels of a status, and values in it, that are read. */
const MAX_LEVELS = 6;
const MAX_VALUES = 60;

/** A value without members. */
export type Leaf = number | string | boolean;

/** Every value in a status, by its path: "sensors.temperature.value". */
export function leavesIn(status: object): Map<string, Leaf> {
	const found = new Map<string, Leaf>();
	const visit = (value: unknown, path: readonly string[]): void => {
		if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") {
			if (found.size < MAX_VALUES) {
				found.set(path.join("."), value);
			}
		} else if (typeof value === "object" && value !== null && path.length < MAX_LEVELS) {
			for (const [key, member] of Object.entries(value)) {
				visit(member, [...path, key]);
			}
		}
	};
	visit(status, []);
	return found;
}

/** The numbers among them. */
export function numbersIn(status: object): Map<string, number> {
	const isNumber = (leaf: readonly [string, Leaf]): leaf is [string, number] => Number.isFinite(leaf[1]);
	return new Map([...leavesIn(status)].filter(isNumber));
}
