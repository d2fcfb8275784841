import type { CallToolResult, ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/client";
import { DEVICE_EVENTS } from "xs-mcp-firmware/hardware/vocabulary";
import type { McpError } from "../core/errors.js";
import type { ServerTool } from "../core/offers.js";
import type { ServerRegistry } from "../core/registry.js";
import type { ConnectionStatus } from "../upstreams/configured-servers.js";
import type { ServerInput, ServerOptions } from "../upstreams/server-config.js";

/** The outcome of a tool call. */
export interface McpToolResult<Data = CallToolResult> {
	readonly success: boolean;
	/** The tool's MCP result; for a local tool, any data. */
	readonly data?: Data;
	readonly error?: Pick<McpError, "code" | "message" | "details" | "retryable">;
	/** `executionTime` is in milliseconds, waiting included. */
	readonly metadata: { readonly executionTime: number };
}

/** A server to register. Without an `id`, its `name` is the id. */
export type RegisteredServer = Omit<ServerInput, "id"> & { readonly id?: string };

/** A call that may need approval. @public */
export interface ApprovalRequest {
	readonly server: string;
	readonly tool: string;
	readonly args: object;
}

/** Asks the user whether a call may be made. Throws with the reason if the user cannot be asked. */
export type Approve = (request: ApprovalRequest) => Promise<boolean>;

/** A server's question to the person during a call: a form (MCP, Elicitation). */
export interface ElicitRequest {
	readonly server: string;
	readonly tool: string;
	readonly message: string;
	/** JSON Schema of an object whose properties are strings, numbers, booleans, or choices of strings. */
	readonly requestedSchema: ElicitRequestFormParams["requestedSchema"];
	/** Aborted when the server no longer needs the answer. */
	readonly signal?: AbortSignal | undefined;
}

/** Asks the person. If it rejects, the server gets an error as the answer. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitResult>;

/** Events of a manager. */
export interface McpManagerEvents {
	/** A server sent a notification. `type` is "tools/list_changed" or the like: {@link NOTIFICATION_TYPES}. */
	notification: [server: string, type: string, params: Readonly<Record<string, unknown>>];
	/** Tools, resources or prompts of servers have changed. Emitted once for a burst of changes. */
	changed: [];
	/** The status of a configured server has changed. */
	status: [server: string, status: ConnectionStatus, lastError: string];
	/** A problem was found in the file. */
	warning: [message: string];
	/** The process of a server wrote a line to standard error. At most 20 lines per second, of 1,000 characters. */
	debug: [server: string, line: string];
}

export interface McpManagerOptions {
	/** Servers to connect to. */
	readonly servers?: readonly RegisteredServer[];
	/** A file with more servers, which is watched for changes. */
	readonly file?: string | undefined;
	/** Whether {@link file} may be absent at first, without a warning; {@link McpManager.reload} finds it later. Default false. */
	readonly isFileOptional?: boolean;
	readonly options?: ServerOptions & {
		/** Connections at the same time. Default 10. */
		readonly maxConnections?: number;
		/** Milliseconds between pings. Default 15,000. */
		readonly pingInterval?: number;
		/** Folder of the sign-ins at servers, and the command to sign in, for errors. Default: no one can sign in. */
		readonly signIns?: { readonly folder: string; readonly how: string } | undefined;
		/** Milliseconds for which the contents of a resource are kept, unless the server says that they changed. Default 60,000; 0: not at all. */
		readonly cacheTtl?: number;
		/** Whether what servers write to standard error appears on this program's. Default false: only in the event `debug`. */
		readonly debug?: boolean;
	};
	/** The servers of a gateway, devices included. Default: a registry of its own. */
	readonly registry?: ServerRegistry;
	/** Answers the questions that servers ask during calls. Default: servers get an error, because questions are not supported. */
	readonly elicit?: Elicit;
	/** Called before each call of a tool that `autoApprove` does not name. Default: every call is approved. */
	readonly approve?: Approve;
}

/** A tool, and how to call it. */
export interface McpTool extends Pick<ServerTool, "name" | "inputSchema" | "outputSchema" | "annotations"> {
	readonly description: string;
	readonly version: string;
	/** The id of its server. */
	readonly server: string;
	execute(params: object): Promise<McpToolResult>;
}

/** A tool of the program itself, for {@link McpManager.registerTool}. */
export interface LocalTool extends Pick<ServerTool, "name" | "inputSchema" | "outputSchema"> {
	readonly description?: string;
	readonly version?: string;
	/** Whether it can be called with these arguments, which fit the schema. Default: it can. */
	readonly canExecute?: (params: object) => boolean | Promise<boolean>;
	/** Runs it. The manager adds `metadata` to the result. If it throws, the call has failed with EXECUTION_FAILED. */
	readonly execute: (params: object) => Promise<Pick<McpToolResult<unknown>, "success" | "data" | "error">>;
}

/** A connection, or a server that is connected on demand. */
export interface McpConnection {
	readonly id: string;
	/** The URL or command of a configured server, or how a device is connected. */
	readonly url: string;
	readonly transport: string;
	readonly status: ConnectionStatus;
	/** Its tools, without user-only ones. */
	readonly tools: number;
	/** The server's name and version; undefined until it was connected. */
	readonly serverInfo: { readonly name: string; readonly version: string } | undefined;
	/** Why it is not connected; empty if nothing went wrong. */
	readonly lastError: string;
	/** Lists of the connected server that could not be read: "resources/list: Internal error". */
	readonly problems: readonly string[];
}

/** The outcome of a reload of the file. */
export interface Reloaded {
	/** Servers that were disconnected before. */
	readonly disconnected: number;
	/** Problems of the file, each with line and field. */
	readonly problems: readonly string[];
	/** Whether the file as a whole could not be read: then nothing has changed. */
	readonly isBroken: boolean;
}

export interface CallRequest {
	/** The server's id. Undefined: the only server that has a tool of this name. */
	readonly server?: string | undefined;
	readonly signal?: AbortSignal | undefined;
	/** Overrides {@link McpManagerOptions.approve}. */
	readonly approve?: Approve | undefined;
	/** The caller's name for the log. Default "local". */
	readonly principal?: string;
}

/** The types of notifications that handlers can filter by. */
export const NOTIFICATION_TYPES: readonly string[] = [
	"tools/list_changed",
	"resources/list_changed",
	"prompts/list_changed",
	"logging/setLevel",
	"progress",
	"cancelled",
	// Types that the documentation omits, and those of devices.
	"resources/updated",
	...DEVICE_EVENTS.map(({ notification }) => notificationType(notification)),
];

/** The type of a notification. Log messages of a server have the type "logging/setLevel". */
export function notificationType(method: string): string {
	const type = method.replace(/^notifications\//, "");
	return type === "message" ? "logging/setLevel" : type;
}
