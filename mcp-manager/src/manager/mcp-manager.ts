import type { CallToolResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { ServerError } from "../core/errors.js";
import { isSimilar, portable } from "../core/names.js";
import type { Offers, ServerTool } from "../core/offers.js";
import { SchemaChecker } from "../core/schema-checker.js";
import { isUserOnly, type Server } from "../core/server.js";
import { textOf } from "../core/tool-results.js";
import { matchesAny } from "../upstreams/server-config.js";
import { expectComplete, withQuestions } from "./asking-person.js";
import { ManagedServers } from "./managed-servers.js";
import { McpError, type McpToolResult, toMcpError, translated } from "./mcp-error.js";
import type { CallRequest, LocalTool, McpManagerEvents, McpManagerOptions, McpTool } from "./mcp-types.js";
import { expectKnownTypes, type NotificationFilter, notificationType } from "./notifications.js";
import { ResourceCache, readResource } from "./resource-cache.js";
import { methodNameOf } from "./typed-tools.js";

/** Names of tools in the error for one that is not known. */
const MAX_SUGGESTED = 3;

/** Connects to MCP servers, and finds and calls their tools, prompts and resources. */
export class McpManager extends ManagedServers {
	readonly #localTools = new Map<string, LocalTool>();
	/** Checks the arguments of local tools. */
	readonly #checker = new SchemaChecker((message) => this.emit("warning", message));
	readonly #cache: ResourceCache;
	readonly #parallel;

	constructor(options: McpManagerOptions = {}) {
		super(options);
		const { cacheTtl = 60_000, maxParallel = 10, debug = false } = options.options ?? {};
		if (debug) {
			this.on("debug", (server, line) => console.error(`${server}: ${line}`));
		}
		this.#cache = new ResourceCache(cacheTtl);
		this.#parallel = pLimit(maxParallel);
	}

	/**
	 * Adds a tool of this program: {@link executeTool} calls it as it calls those of servers, but without approval. It comes before a
	 * server's tool of the same name. {@link MANAGEMENT_TOOLS} do not show it.
	 *
	 * @returns a function that removes it
	 * @throws McpError if a tool of this name is already registered
	 */
	registerTool(tool: LocalTool): () => void {
		if (this.#localTools.has(tool.name)) {
			throw new McpError("INVALID_REQUEST", `Tool '${tool.name}' is already registered`);
		}
		this.#localTools.set(tool.name, tool);
		return () => void this.#localTools.delete(tool.name);
	}

	/** The tools of a server, or of all and of this program. Tools that only people may call are left out. */
	listTools(server?: string): McpTool[] {
		const servers = server === undefined ? this.registry.all : [this.expect(server)];
		const local = server === undefined ? [...this.#localTools.values()] : [];
		return [
			...local.map((tool) => this.#listedTool(tool, "", tool.version)),
			...servers.flatMap((each) =>
				each.tools
					.filter((tool) => !isUserOnly(tool))
					.map((tool) => this.#listedTool(tool, this.idOf(each), each.board.version)),
			),
		];
	}

	/** The tools that the configuration has the host of an agent offer by themselves: `directTools`. */
	listDirectTools(): McpTool[] {
		return this.listTools().filter(({ server, name }) => {
			const { directTools = false } = this.configOf(server) ?? {};
			return typeof directTools === "boolean" ? directTools : matchesAny(directTools, name);
		});
	}

	/** The tool of this name; null if it does not exist, or if several servers have one and `server` is absent. */
	getTool(name: string, server?: string): McpTool | null {
		const found = this.listTools(server).filter((tool) => tool.name === name);
		return found.length === 1 ? (found[0] as McpTool) : null;
	}

	/**
	 * Calls a tool, and never rejects: an error is in the result. The arguments are checked first.
	 *
	 * @typeParam Data what the tool returns; only a local tool returns anything but an MCP result
	 */
	async executeTool<Data = CallToolResult>(
		name: string,
		params: object = {},
		request: CallRequest = {},
	): Promise<McpToolResult<Data>> {
		const start = performance.now();
		const metadata = () => ({ executionTime: performance.now() - start });
		const local = request.server === undefined ? this.#localTools.get(name) : undefined;
		let tool: ServerTool | undefined;
		try {
			if (local !== undefined) {
				const check = { tool: name, what: "arguments", schema: local.inputSchema, value: params };
				const problem = await this.#checker.check(check);
				if (problem !== undefined) {
					throw new ServerError("invalid-arguments", problem);
				}
				if (local.canExecute !== undefined && !(await local.canExecute(params))) {
					throw new McpError("INVALID_PARAMS", `Tool '${name}' cannot be executed with these arguments`);
				}
				return { ...((await local.execute(params)) as McpToolResult<Data>), metadata: metadata() };
			}
			await (request.server && this.whenKnown(request.server));
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

	/**
	 * A server's tools as methods, for the interface that `xs-mcp-gateway types` makes: `find_symbol` is `findSymbol`. A method
	 * settles with the structured result or else the text, and rejects with McpError.
	 *
	 * @throws McpError if the server does not exist
	 */
	typed<Tools extends object>(server: string): Tools {
		const methods = this.listTools(server).map(({ name, execute }) => [
			methodNameOf(name),
			async (params?: object): Promise<unknown> => {
				const { data, error } = await execute(params ?? {});
				if (data === undefined) {
					throw new McpError(error?.code ?? "EXECUTION_FAILED", error?.message ?? "", error);
				}
				return data.structuredContent ?? textOf(data.content);
			},
		]);
		return Object.fromEntries(methods) as Tools;
	}

	/** Calls tools, at most `maxParallel` at the same time. The results are in the order of the calls. */
	executeParallel(
		executions: readonly { readonly tool: string; readonly params?: object; readonly server?: string }[],
		request: Omit<CallRequest, "server"> = {},
	): Promise<McpToolResult[]> {
		return Promise.all(
			executions.map(({ tool, params, server }) =>
				this.#parallel(() => this.executeTool(tool, params, { ...request, server })),
			),
		);
	}

	/**
	 * The prompts of a server, or of all.
	 *
	 * @throws McpError if the server does not exist
	 */
	listPrompts(server?: string): (Prompt & { readonly server: string })[] {
		return this.#listed("prompts", server);
	}

	/** The text of a prompt, for a slash command. Rejects with McpError. */
	async executePrompt(server: string, name: string, args: Readonly<Record<string, string>> = {}): Promise<string> {
		await this.whenKnown(server);
		const { messages } = await translated(async () =>
			expectComplete(await this.expect(server).request({ method: "prompts/get", params: { name, arguments: args } })),
		);
		return messages.map(({ content }) => textOf([content])).join("\n\n");
	}

	/**
	 * The resources of a server, or of all.
	 *
	 * @throws McpError if the server does not exist
	 */
	listResources(server?: string): (Resource & { readonly server: string })[] {
		return this.#listed("resources", server);
	}

	/**
	 * Reads a resource. Rejects with McpError.
	 *
	 * @param fresh whether to ignore the cache
	 */
	async readResource(name: string, uri: string, { fresh = false } = {}): Promise<ReadResourceResult> {
		await this.whenKnown(name);
		return await translated(() => readResource(this.expect(name), uri, this.#cache, fresh));
	}

	/**
	 * Calls a function with each notification that matches the filter.
	 *
	 * @returns a function that unsubscribes
	 * @throws McpError for a type that is not in {@link NOTIFICATION_TYPES}
	 */
	onNotification(
		filter: NotificationFilter,
		handler: (...event: McpManagerEvents["notification"]) => void,
	): () => void {
		expectKnownTypes(filter.types);
		const listener = (...event: McpManagerEvents["notification"]): void => {
			const [server, type] = event;
			const isServer = filter.server === undefined || filter.server === server;
			if (isServer && (filter.types === undefined || filter.types.includes(type))) {
				handler(...event);
			}
		};
		this.on("notification", listener);
		return () => this.off("notification", listener);
	}

	/** Ends every connection to a configured server. A registry that was given stays open. */
	override async close(): Promise<void> {
		this.#cache.clear();
		await this.#checker.close();
		await super.close();
	}

	#listed<List extends "prompts" | "resources">(list: List, name: string | undefined) {
		const servers = name === undefined ? this.registry.all : [this.expect(name)];
		return servers.flatMap((server) => {
			const items: readonly Offers[List][number][] = server.offers[list];
			return items.map((item) => ({ ...item, server: this.idOf(server) }));
		});
	}

	protected override onServerNotification(
		server: Server,
		method: string,
		params: Readonly<Record<string, unknown>>,
	): void {
		this.#cache.notified(server, method, params);
		this.emit("notification", server.known ? this.idOf(server) : server.id, notificationType(method), params);
	}

	#listedTool(
		{ name, description = "", inputSchema, outputSchema, ...tool }: ServerTool | LocalTool,
		server: string,
		version = "",
	): McpTool {
		const annotations = "annotations" in tool ? tool.annotations : undefined;
		const request = server === "" ? {} : { server };
		const execute: McpTool["execute"] = (params) => this.executeTool(name, params, request);
		return { name, description, version, inputSchema, outputSchema, annotations, server, execute };
	}

	/** Rejects if the tool has failed, too. */
	async #callTool(server: Server, tool: ServerTool, params: object, request: CallRequest): Promise<CallToolResult> {
		await server.checkArguments(tool, params);
		const { autoApprove = false } = this.configOf(server.id) ?? {};
		const isApproved = typeof autoApprove === "boolean" ? autoApprove : matchesAny(autoApprove, tool.name);
		const approve = isApproved ? undefined : (request.approve ?? this.options.approve);
		if (approve !== undefined && !(await approve({ server: this.idOf(server), tool: tool.name, args: params }))) {
			throw new McpError("PERMISSION_DENIED", `The call of '${tool.name}' was not approved`);
		}
		const { principal = "local", signal } = request;
		// A server sends progress only if it is asked to. Handlers get it with the other notifications.
		const wantsProgress = this.listenerCount("notification") > 0;
		const options = { signal, ...(wantsProgress && { onProgress: () => {} }) };
		const call = { server: this.idOf(server), tool: tool.name, signal };
		const data = await withQuestions(this.options.elicit, call, (asking) =>
			server.call(tool, params, { ...options, ...asking, principal }),
		);
		if (data.isError) {
			throw new McpError("EXECUTION_FAILED", textOf(data.content), { details: data });
		}
		return data;
	}

	#serverWith(tool: string, name: string | undefined): Server {
		if (name !== undefined) {
			return this.expect(name);
		}
		const { all } = this.registry;
		const exact = all.filter((server) => server.tools.some(isNamed(tool)));
		const found = exact.length > 0 ? exact : all.filter((server) => server.tools.some(isMeant(tool, server)));
		if (found.length !== 1) {
			const ids = found.map((server) => this.idOf(server)).join(", ");
			const message =
				found.length === 0 ? `Tool ${tool} not found${this.failures()}` : `Tool ${tool} is on several servers: ${ids}`;
			throw new McpError("TOOL_NOT_FOUND", message);
		}
		return found[0] as Server;
	}

	#notOffered(server: Server, tool: string): McpError {
		const { allow = ["*"], deny = [] } = this.configOf(server.id)?.tools ?? {};
		const similar = server.tools.filter((each) => !isUserOnly(each) && isSimilar(each.name, tool));
		const names = similar.slice(0, MAX_SUGGESTED).map(({ name }) => name);
		const hint = names.length > 0 ? `. Did you mean ${names.join(", ")}?` : "";
		return matchesAny(deny, tool) || !matchesAny(allow, tool)
			? new McpError("PERMISSION_DENIED", `Tool '${tool}' is not allowed by the configuration of '${server.id}'`)
			: new McpError("TOOL_NOT_FOUND", `Tool '${tool}' not found on server${hint}`);
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
