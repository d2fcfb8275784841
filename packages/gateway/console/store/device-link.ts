import {
	type CallToolResult,
	Client,
	type Progress,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { Device } from "./device.js";
import { checkSession, session } from "./session.js";

/** Milliseconds that a call may take without progress: the gateway's own limits are shorter. */
const PATIENCE = 300_000;

/** The name by which pages of the console are clients. */
export const CONSOLE_CLIENT = "xs-mcp-console";

/** One device, as an MCP client sees it through the gateway's endpoint. The gateway's stream brings its status. */
export class DeviceLink extends Device {
	get #endpoint(): string {
		return `mcp/${encodeURIComponent(this.alias)}?catalog=full`;
	}

	/** Lists the tools. Rejects with the client's errors. */
	async open(): Promise<void> {
		const { tools } = await withGateway((client) => client.listTools({}, { cacheMode: "refresh" }), this.#endpoint);
		this.tools.value = tools;
	}

	protected async ask(
		name: string,
		args: Record<string, unknown>,
		onProgress?: (text: string) => void,
	): Promise<CallToolResult> {
		return await callTool(name, args, this.#endpoint, onProgress);
	}
}

/** Endpoint that lists tools which devices share once. */
const GROUPS = "mcp?catalog=groups";

/** The tools that several devices share, each called once for the devices that its argument `devices` names. */
export class GroupLink extends Device {
	/** Lists the tools. Rejects with the client's errors. */
	async open(): Promise<void> {
		const { tools } = await withGateway((client) => client.listTools({}, { cacheMode: "refresh" }), GROUPS);
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

/** Makes a device say a text. */
export async function sayOn(alias: string, text: string): Promise<CallToolResult> {
	return await callTool("say", { text, devices: [alias] });
}

async function callTool(
	name: string,
	args: Record<string, unknown>,
	endpoint?: string,
	onProgress?: (text: string) => void,
): Promise<CallToolResult> {
	const options = {
		timeout: PATIENCE,
		resetTimeoutOnProgress: true,
		...(onProgress && {
			onprogress: ({ progress, total, message = "" }: Progress) =>
				onProgress(`${progress}${total === undefined ? "" : ` / ${total}`} ${message}`),
		}),
	};
	return await withGateway((client) => client.callTool({ name, arguments: args }, options), endpoint);
}

/** Makes a request of the events extension, of all devices. */
export async function askEvents<T>(method: string, params: Record<string, unknown> = {}): Promise<T> {
	return await withGateway(async (client) => (await client.request({ method, params }, ANYTHING)) as T);
}

/** Clients by their endpoints, without sessions. Each knows the schemas of the tools that it has listed, which some calls need. */
const clients = new Map<string, Promise<Client>>();

async function withGateway<T>(use: (client: Client) => Promise<T>, endpoint = "mcp"): Promise<T> {
	const client = clients.get(endpoint) ?? connect(endpoint);
	clients.set(endpoint, client);
	client.catch(() => clients.delete(endpoint));
	try {
		return await use(await client);
	} catch (error) {
		// Perhaps the session of the page has ended.
		await checkSession().catch(() => {});
		throw error;
	}
}

async function connect(endpoint: string): Promise<Client> {
	const info = { name: CONSOLE_CLIENT, version: session.value?.version ?? "0" };
	const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
	await client.connect(new StreamableHTTPClientTransport(new URL(endpoint, document.baseURI)));
	return client;
}

/** A schema (Standard Schema) of the gateway's own answers, which need no check. */
const ANYTHING = {
	"~standard": { version: 1, vendor: "xs-mcp", validate: (value: unknown) => ({ value }) },
} as const;
