import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import * as z from "zod";
import { describeIssues, McpError } from "../core/errors.js";
import { inputSchemaOf } from "../core/input-schema.js";
import { failedResult, textResult, withoutNulls } from "../core/received.js";
import { SERVER_FIELDS } from "../upstreams/server-config.js";
import type { McpManager } from "./mcp-manager.js";
import {
	type Approve,
	type McpConnection,
	type McpManagerEvents,
	type McpTool,
	NOTIFICATION_TYPES,
} from "./mcp-types.js";

/** The caller of a management tool. */
export interface ManagementCaller {
	/** The caller's name for the log. */
	readonly principal: string;
	/** Asks the user whether a tool may be called. */
	readonly approve: Approve;
	/** Asks the user whether to connect to a URL, or to run a command. Default: connects without asking. */
	readonly approveConnection?: (id: string, shown: string) => Promise<boolean>;
	/** Forwards a notification with a registered handler to the user or model. */
	readonly notify: (text: string) => void;
	readonly signal?: AbortSignal | undefined;
	/** Registers a function to call when the caller has disconnected. Throws if the caller cannot have handlers. */
	readonly onHandler?: (end: () => void) => void;
}

/** One of the nine tools with which a model manages connections. */
export interface ManagementTool {
	readonly name: string;
	readonly description: string;
	/** JSON Schema. */
	readonly inputSchema: { readonly type: "object"; readonly [member: string]: unknown };
	readonly annotations: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean };
	/** Never rejects: an error is a result with `isError`. */
	run(manager: McpManager, args: unknown, caller: ManagementCaller): Promise<CallToolResult>;
}

const ID = z.string().min(1).describe("Connection ID");

/** Statuses that count as success. A server that is still connecting shows the outcome in its status later. */
const CONNECTED: ReadonlySet<string> = new Set(["connected", "connecting"]);

/** Number of handlers registered so far, for their names. */
let handlers = 0;

/** Maximum number of handlers at the same time. */
const MAX_HANDLERS = 100;

/** The nine tools, in the order in which they are listed. */
export const MANAGEMENT_TOOLS: readonly ManagementTool[] = [
	define({
		name: "mcp_connect",
		description: "Connect to an MCP server over HTTP, SSE, WebSocket or stdio",
		input: z.strictObject({
			id: z.string().describe("Unique ID of the connection: alphanumeric characters, underscores and hyphens"),
			url: z
				.string()
				.optional()
				.describe("URL, or a command for stdio; may be left out if the file of servers has a server with this ID"),
			type: SERVER_FIELDS.transport.describe("Transport. Default: as the URL says"),
			headers: SERVER_FIELDS.headers,
			auth: SERVER_FIELDS.auth,
			timeout: SERVER_FIELDS.timeout,
		}),
		async run(manager, { id, url, type, headers, auth, timeout }, { approveConnection }) {
			try {
				const server = { id, url, transport: type, headers, auth, timeout };
				const approve = approveConnection && ((shown: string) => approveConnection(id, shown));
				const connection = await manager.registerServer(server, approve);
				return textResult(connectedText(connection, manager.listTools(id), manager.listResources(id).length));
			} catch (error) {
				if (error instanceof McpError && error.code === "CONNECTION_FAILED") {
					return failedResult(error.message);
				}
				throw error;
			}
		},
	}),
	define({
		name: "mcp_disconnect",
		description: "Disconnect from an MCP server",
		input: z.strictObject({ id: ID }),
		async run(manager, { id }) {
			const url = await manager.disconnect(id);
			if (url === undefined) {
				throw notFound(id);
			}
			return textResult(`Disconnected from '${id}' (${url})`);
		},
	}),
	define({
		name: "mcp_list_connections",
		description: "List MCP connections: servers and devices, their status, and how many tools they have",
		input: z.strictObject({}),
		annotations: { readOnlyHint: true },
		async run(manager) {
			const connections = manager.listConnections();
			const lines = connections.map(({ id, url, status, tools, serverInfo, lastError, problems }) => {
				const info = serverInfo ? ` - ${serverInfo.name}/${serverInfo.version}` : "";
				return `- ${id}: ${url} [${status}] (${tools} tools)${info}${lastError && `: ${lastError}`}${problems.map((problem) => `; ${problem}`).join("")}`;
			});
			const text = [`Active MCP Connections (${connections.length}):`, ...lines].join("\n");
			return { ...textResult(lines.length === 0 ? NO_CONNECTIONS : text), structuredContent: { connections } };
		},
	}),
	define({
		name: "mcp_list_tools",
		description: "List the tools of a connection, or of all, with the JSON Schema of their arguments",
		input: z.strictObject({ id: ID.optional() }),
		annotations: { readOnlyHint: true },
		async run(manager, { id }) {
			await (id && manager.whenKnown(id));
			// Local tools of the program belong to no connection.
			const tools = manager.listTools(id).filter(({ server }) => server !== "");
			const ids = id === undefined ? manager.listConnections().map((connection) => connection.id) : [id];
			const toolsOf = (each: string) => tools.filter(({ server }) => id !== undefined || server === each);
			// The first line of each description, and the schema of the arguments: some models see no more.
			const texts = ids.map((each) => {
				const lines = toolsOf(each).map(
					({ name, description, inputSchema: { $schema: _, ...schema } }) =>
						`  - ${name}${description && `: ${description.split("\n")[0]}`}\n    ${JSON.stringify(schema)}`,
				);
				return [`Tools from '${each}' (${lines.length}):`, ...lines].join("\n");
			});
			const listed = tools.map(({ server, name, description, inputSchema }) => {
				return { connection_id: server, name, description, inputSchema };
			});
			return { ...textResult(texts.join("\n\n") || NO_CONNECTIONS), structuredContent: { tools: listed } };
		},
	}),
	define({
		name: "mcp_call_tool",
		description: "Call a tool of a connection. The person may be asked to approve it",
		input: z.strictObject({
			connection_id: ID,
			tool_name: z.string().min(1).describe("Name of the tool, as mcp_list_tools shows it"),
			arguments: z.record(z.string(), z.unknown()).optional().describe("Arguments of the tool"),
		}),
		async run(manager, { connection_id: server, tool_name, arguments: args }, { approve, principal, signal }) {
			const { data, error } = await manager.executeTool(tool_name, args, { server, approve, principal, signal });
			if (data !== undefined) {
				return data;
			}
			// A failed tool's text is passed on unchanged.
			const own = error?.details as CallToolResult | undefined;
			return error?.code === "EXECUTION_FAILED" && Array.isArray(own?.content) ? own : failed(error?.message ?? "");
		},
	}),
	define({
		name: "mcp_list_resources",
		description: "List the resources of a connection",
		input: z.strictObject({ id: ID }),
		annotations: { readOnlyHint: true },
		async run(manager, { id }) {
			await manager.whenKnown(id);
			const resources = manager.listResources(id);
			const lines = resources.map(
				({ uri, name, mimeType }) => `  - ${uri}: ${name}${mimeType ? ` (${mimeType})` : ""}`,
			);
			return textResult([`Resources from '${id}' (${resources.length}):`, ...lines].join("\n"));
		},
	}),
	define({
		name: "mcp_read_resource",
		description: "Read a resource of a connection",
		input: z.strictObject({ connection_id: ID, uri: z.string().min(1).describe("URI of the resource") }),
		annotations: { readOnlyHint: true },
		async run(manager, { connection_id, uri }) {
			const { contents } = await manager.readResource(connection_id, uri, { fresh: true });
			const content = contents.map((item): ContentBlock => {
				if ("text" in item) {
					return { type: "text", text: item.text };
				}
				return item.mimeType?.startsWith("image/")
					? { type: "image", data: item.blob, mimeType: item.mimeType }
					: { type: "resource", resource: item };
			});
			return { content };
		},
	}),
	define({
		name: "mcp_reload_config",
		description: "Read the file of servers again, and connect to those that are enabled",
		input: z.strictObject({
			disconnect_existing: z.boolean().optional().describe("Disconnect the existing connections before"),
		}),
		async run(manager, { disconnect_existing: isAll = false }) {
			const { disconnected, problems, isBroken } = await manager.reload(isAll);
			if (isBroken) {
				return failed([...problems, "The servers are as they were before."].join("\n"));
			}
			const enabled = new Set(manager.configs.filter((config) => config.enabled).map(({ id }) => id));
			const connections = manager.listConnections().filter(({ id }) => enabled.has(id));
			const connected = connections.filter(({ status }) => CONNECTED.has(status)).map(({ id }) => id);
			const broken = connections.filter(({ status }) => status === "error");
			return textResult(
				[
					...(isAll ? [`Disconnected ${disconnected} existing connection(s)`] : []),
					`Reloaded MCP config from ${manager.path}`,
					`Connected: ${connected.join(", ") || "none"}`,
					...(broken.length > 0
						? [`Failed: ${broken.map(({ id, lastError }) => `${id} (${lastError})`).join(", ")}`]
						: []),
					...problems,
				].join("\n"),
			);
		},
	}),
	define({
		name: "mcp_register_notification_handler",
		description: "Be told of notifications from MCP servers",
		input: z.strictObject({
			connection_id: ID.optional().describe("Only of this connection. Default: of all"),
			types: z
				.array(z.string())
				.optional()
				.describe(`Only of these types: ${NOTIFICATION_TYPES.join(", ")}. Default: all`),
			description: z.string().optional().describe("What it is for"),
		}),
		async run(manager, { connection_id: server, types, description }, { notify, onHandler }) {
			if (server !== undefined && !manager.listConnections().some(({ id }) => id === server)) {
				throw notFound(server);
			}
			const unknown = types?.find((type) => !NOTIFICATION_TYPES.includes(type));
			if (unknown !== undefined) {
				const known = NOTIFICATION_TYPES.join(", ");
				throw new McpError("INVALID_PARAMS", `unknown notification type '${unknown}': expected one of ${known}`);
			}
			if (manager.listenerCount("notification") >= MAX_HANDLERS) {
				throw new McpError("RATE_LIMIT_EXCEEDED", `too many notification handlers (limit ${MAX_HANDLERS})`);
			}
			const onNotification = (...[from, type, params]: McpManagerEvents["notification"]): void => {
				if ((server ?? from) === from && (types === undefined || types.includes(type))) {
					notify(`${name}${description ? ` (${description})` : ""}: ${type} from '${from}' ${JSON.stringify(params)}`);
				}
			};
			// Throws if the client cannot have a handler.
			onHandler?.(() => void manager.off("notification", onNotification));
			handlers += 1;
			const name = `handler-${handlers}`;
			manager.on("notification", onNotification);
			return textResult(
				[
					`Registered notification handler: ${name}`,
					`Connection filter: ${server ?? "all connections"}`,
					`Type filter: ${types?.join(", ") ?? "all types"}`,
				].join("\n"),
			);
		},
	}),
];

function define<T>({
	input,
	annotations = {},
	run,
	...named
}: Pick<ManagementTool, "name" | "description"> & {
	readonly input: z.ZodType<T>;
	readonly annotations?: ManagementTool["annotations"];
	readonly run: (manager: McpManager, args: T, caller: ManagementCaller) => Promise<CallToolResult>;
}): ManagementTool {
	return {
		...named,
		get inputSchema() {
			return inputSchemaOf(input);
		},
		annotations,
		async run(manager, args, caller) {
			const { success, data, error } = input.safeParse(withoutNulls(args ?? {}));
			if (!success) {
				return failed(`Invalid arguments: ${describeIssues(error.issues, "arguments")}`);
			}
			try {
				return await run(manager, data, caller);
			} catch (cause) {
				return failed((cause as Error).message);
			}
		},
	};
}

/** The error of a management tool. Only a connection that failed has no "Error:" in front. */
function failed(message: string): CallToolResult {
	return failedResult(`Error: ${message}`);
}

function notFound(id: string): McpError {
	return new McpError("CONNECTION_FAILED", `Connection '${id}' not found`);
}

/** "Available tools (3): a, b, c" names at most this many. */
const MAX_NAMED = 20;

const NO_CONNECTIONS = "No active MCP connections";

const TRANSPORT_NAMES: Readonly<Record<string, string>> = { http: "HTTP", sse: "SSE", websocket: "WebSocket" };

function connectedText(connection: McpConnection, tools: readonly McpTool[], resources: number): string {
	const { id, url, transport, problems } = connection;
	const names = tools.slice(0, MAX_NAMED).map(({ name }) => name);
	const list = [...names, ...(tools.length > MAX_NAMED ? ["..."] : [])].join(", ");
	return [
		`Successfully connected to ${url}`,
		`Connection ID: ${id}`,
		`Transport: ${TRANSPORT_NAMES[transport] ?? transport}`,
		`Available tools (${tools.length})${list && `: ${list}`}`,
		`Available resources: ${resources}`,
		...problems.map((problem) => `Not available: ${problem}`),
	].join("\n");
}
