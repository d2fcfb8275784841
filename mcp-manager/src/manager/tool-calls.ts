import type { CallToolResult } from "@modelcontextprotocol/client";
import { isSimilar, portable } from "../core/names.js";
import type { ServerTool } from "../core/offers.js";
import { isUserOnly, type Server } from "../core/server.js";
import { textOf } from "../core/tool-results.js";
import { matchesAny } from "../upstreams/server-config.js";
import { withQuestions } from "./asking-person.js";
import type { LocalTools } from "./local-tools.js";
import type { ManagedServers } from "./managed-servers.js";
import { McpError, type McpToolResult, toMcpError } from "./mcp-error.js";
import type { Approve, CallRequest, Elicit, McpTool } from "./mcp-types.js";

/** Names of tools in the error for one that is not known. */
const MAX_SUGGESTED = 3;

interface ToolCallsOptions {
	/** For calls without their own `approve`. */
	readonly approve: Approve | undefined;
	/** Answers questions of servers. */
	readonly elicit: Elicit | undefined;
	/** Whether servers are asked for progress notifications. */
	readonly wantsProgress: () => boolean;
}

/** Finds the tools of servers and of this program, and calls them. */
export class ToolCalls {
	readonly #servers: ManagedServers;
	readonly #localTools: LocalTools;
	readonly #options: ToolCallsOptions;

	constructor(servers: ManagedServers, localTools: LocalTools, options: ToolCallsOptions) {
		this.#servers = servers;
		this.#localTools = localTools;
		this.#options = options;
	}

	/** The tools of a server, or of all and of this program. Tools that only people may call are left out. */
	list(server?: string): McpTool[] {
		const servers = server === undefined ? this.#servers.registry.all : [this.#servers.expect(server)];
		const local = server === undefined ? this.#localTools.list((name, params) => this.execute(name, params)) : [];
		return [
			...local,
			...servers.flatMap((each) =>
				each.tools.filter((tool) => !isUserOnly(tool)).map((tool) => this.#toolOf(each, tool)),
			),
		];
	}

	/**
	 * Calls a tool, and never rejects: an error is in the result. The arguments are checked first.
	 *
	 * @typeParam Data what the tool returns; only a local tool returns anything but an MCP result
	 */
	async execute<Data = CallToolResult>(
		name: string,
		params: object = {},
		request: CallRequest = {},
	): Promise<McpToolResult<Data>> {
		const start = performance.now();
		const metadata = () => ({ executionTime: performance.now() - start });
		const local = request.server === undefined ? this.#localTools.find(name) : undefined;
		let tool: ServerTool | undefined;
		try {
			if (local !== undefined) {
				const result = await this.#localTools.run(local, params);
				return { ...(result as McpToolResult<Data>), metadata: metadata() };
			}
			await (request.server && this.#servers.whenKnown(request.server));
			const server = this.#serverWith(name, request.server);
			tool = server.tools.find(isNamed(name)) ?? server.tools.find(isMeant(name, server));
			if (tool === undefined) {
				throw this.#notOffered(server, name);
			}
			const data = await this.#callTool(server, tool, params, request);
			return { success: true, data: data as Data, metadata: metadata() };
		} catch (error) {
			const { code, message, details, retryable } = toMcpError(error, tool);
			return { success: false, error: { code, message, details, retryable }, metadata: metadata() };
		}
	}

	/** Rejects if the tool has failed, too. */
	async #callTool(server: Server, tool: ServerTool, params: object, request: CallRequest): Promise<CallToolResult> {
		await server.calls.checkArguments(tool, params);
		await this.#expectApproved(server, tool.name, params, request.approve ?? this.#options.approve);
		const options = {
			signal: request.signal,
			// A server sends progress only if it is asked to. Handlers get it with the other notifications.
			...(this.#options.wantsProgress() && { onProgress: () => {} }),
		};
		const { principal = "local", signal } = request;
		const call = { server: this.#servers.idOf(server), tool: tool.name, signal };
		const data = await withQuestions(this.#options.elicit, call, (inputClient) =>
			server.calls.call(principal, tool, params, { ...options, inputClient }),
		);
		if (data.isError) {
			throw new McpError("EXECUTION_FAILED", textOf(data.content), { details: data });
		}
		return data;
	}

	#toolOf(server: Server, tool: ServerTool): McpTool {
		const { name, description = "", inputSchema, outputSchema, annotations } = tool;
		const id = this.#servers.idOf(server);
		return {
			name,
			description,
			inputSchema,
			outputSchema,
			annotations,
			server: id,
			version: server.board.version,
			execute: (params) => this.execute(name, params, { server: id }),
		};
	}

	#serverWith(tool: string, name: string | undefined): Server {
		if (name !== undefined) {
			return this.#servers.expect(name);
		}
		const { all } = this.#servers.registry;
		const exact = all.filter((server) => server.tools.some(isNamed(tool)));
		const found = exact.length > 0 ? exact : all.filter((server) => server.tools.some(isMeant(tool, server)));
		if (found.length !== 1) {
			const ids = found.map((server) => this.#servers.idOf(server)).join(", ");
			const message =
				found.length === 0
					? `Tool ${tool} not found${this.#servers.failures()}`
					: `Tool ${tool} is on several servers: ${ids}`;
			throw new McpError("TOOL_NOT_FOUND", message);
		}
		return found[0] as Server;
	}

	#notOffered(server: Server, tool: string): McpError {
		const { allow = ["*"], deny = [] } = this.#servers.configOf(server.id)?.tools ?? {};
		const similar = server.tools.filter((each) => !isUserOnly(each) && isSimilar(each.name, tool));
		const names = similar.slice(0, MAX_SUGGESTED).map(({ name }) => name);
		const hint = names.length > 0 ? `. Did you mean ${names.join(", ")}?` : "";
		return matchesAny(deny, tool) || !matchesAny(allow, tool)
			? new McpError("PERMISSION_DENIED", `Tool '${tool}' is not allowed by the configuration of '${server.id}'`)
			: new McpError("TOOL_NOT_FOUND", `Tool '${tool}' not found on server${hint}`);
	}

	async #expectApproved(server: Server, tool: string, args: object, approve: Approve | undefined): Promise<void> {
		const { autoApprove = false } = this.#servers.configOf(server.id) ?? {};
		const isApproved = typeof autoApprove === "boolean" ? autoApprove : matchesAny(autoApprove, tool);
		if (approve === undefined || isApproved) {
			return;
		}
		if (!(await approve({ server: this.#servers.idOf(server), tool, args }))) {
			throw new McpError("PERMISSION_DENIED", `The call of '${tool}' was not approved`);
		}
	}
}

/** Whether a tool that models may call has this name. */
function isNamed(name: string): (tool: ServerTool) => boolean {
	return (tool) => tool.name === name && !isUserOnly(tool);
}

/** Whether the name means a tool, as a gateway writes it: in the characters that every client takes, or after the server's alias. */
function isMeant(name: string, { alias }: Server): (tool: ServerTool) => boolean {
	const own = portable(name.startsWith(`${alias}__`) ? name.slice(alias.length + 2) : name);
	return (tool) => portable(tool.name) === own && !isUserOnly(tool);
}
