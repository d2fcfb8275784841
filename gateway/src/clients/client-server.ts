import {
	type CallToolResult,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext,
	type Tool,
} from "@modelcontextprotocol/server";
import { RpcError } from "../../../src/mcp_server/json-rpc.js";
import type { Gateway } from "../gateway.js";
import { DeviceError } from "../servers/errors.js";
import { GATEWAY_INFO } from "../version.js";
import type { FoundTool, ToolScope } from "./catalog.js";

export interface HostServerOptions {
	/** Who calls: for the record. */
	readonly principal: string;
	readonly scope: ToolScope;
	/** Milliseconds for which a host may keep the list (2026-07-28, `ttlMs`). Default 5,000. */
	readonly listTtl?: number;
	/** Hears of the list that the host begins to read. */
	readonly onListed?: (tools: readonly Tool[]) => void;
	/** Hears of every call before it is made. */
	readonly onCall?: (context: ServerContext) => void;
}

/** Tools on a page of the list. Clients exist that read no more than 64 pages: enough for 5,000 devices. */
const PAGE_SIZE = 500;

/** The first revision in which wrong arguments are a failed call, which a model can put right (SEP-1303). */
const ARGUMENTS_ARE_TOOL_ERRORS = "2025-11-25";

const INSTRUCTIONS = `These tools run on devices: microcontrollers with speakers, screens, sensors.
Where there are several devices, a tool's name begins with its device's name and two underscores.
A device may be asleep or unplugged: a call waits a moment for it, then fails and says when it was last seen.
A call that failed because the device was lost while it was under way may have been carried out.`;

/** An MCP server for one host, or one request of one: lists the tools of a scope and calls them. For every revision. */
export function createHostServer(gateway: Gateway, options: HostServerOptions): Server {
	const { principal, scope, listTtl = 5_000, onListed, onCall } = options;
	const hint = { ttlMs: listTtl, cacheScope: scope.isPublic ? "public" : "private" } as const;
	const server = new Server(GATEWAY_INFO, {
		capabilities: { tools: { listChanged: true } },
		instructions: INSTRUCTIONS,
		cacheHints: { "tools/list": hint, "server/discover": hint },
	});
	server.setRequestHandler("tools/list", ({ params }) => {
		if (isFirstPage(params?.cursor)) {
			onListed?.(scope.tools);
		}
		return pageOf(scope.tools, params?.cursor);
	});
	server.setRequestHandler("tools/call", async ({ params }, context) => {
		onCall?.(context);
		const found = findTool(scope, params.name);
		const revision = server.getNegotiatedProtocolVersion() ?? "";
		try {
			const result = await gateway.call(principal, found, params.arguments ?? {}, callOptions(context));
			const { outputSchema } = found.tool as Partial<Tool>;
			return server.projectCallToolResult(result as unknown as CallToolResult, outputSchema);
		} catch (error) {
			return answerFailure(error, found, revision);
		}
	});
	return server;
}

function isFirstPage(cursor: string | undefined): cursor is undefined | "" {
	return cursor === undefined || cursor === "";
}

/** The cursor is the name of the page's first tool: it holds while devices come, and only its own removal breaks it. */
function pageOf(tools: readonly Tool[], cursor: string | undefined): { tools: Tool[]; nextCursor?: string } {
	const start = isFirstPage(cursor) ? 0 : tools.findIndex(({ name }) => name === cursor);
	if (start < 0) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: not of this list, or no longer; begin anew");
	}
	const next = tools[start + PAGE_SIZE];
	return { tools: tools.slice(start, start + PAGE_SIZE), ...(next && { nextCursor: next.name }) };
}

function findTool(scope: ToolScope, name: string): FoundTool {
	try {
		return scope.find(name);
	} catch (error) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, (error as Error).message);
	}
}

/** Cancellation and progress, passed through. */
function callOptions({ mcpReq }: ServerContext) {
	const { signal, _meta } = mcpReq;
	const progressToken = _meta?.progressToken;
	if (progressToken === undefined) {
		return { signal };
	}
	const onProgress = (progress: Readonly<Record<string, unknown>>): void => {
		// A host that is gone needs no progress.
		mcpReq.notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => {});
	};
	return { signal, onProgress };
}

/**
 * MCP "Error Handling": what a model cannot mend is an error of the protocol, what it should hear of is a failed call.
 */
function answerFailure(error: unknown, { known }: FoundTool, revision: string): CallToolResult {
	if (error instanceof DeviceError) {
		if (error.code === "invalid-arguments" && revision < ARGUMENTS_ARE_TOOL_ERRORS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
		}
		return failed(error.code, error.message);
	}
	if (!(error instanceof RpcError)) {
		throw error;
	}
	if (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.MethodNotFound) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.data);
	}
	return failed("refused", `${known.alias} refused the call: ${error.message} (${error.code})`);
}

/** The code is for programs, the text for models. */
function failed(code: string, text: string): CallToolResult {
	return { content: [{ type: "text", text }], isError: true, _meta: { "xs-mcp/error": code } };
}
