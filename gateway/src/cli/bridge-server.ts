import { type Client, ProtocolError, type RequestOptions } from "@modelcontextprotocol/client";
import {
	type CallToolResult,
	type GetPromptResult,
	isInputRequiredResult,
	type ListToolsResult,
	type LoggingLevel,
	ProtocolErrorCode,
	ResourceNotFoundError,
	Server,
	type ServerContext,
	type Transport,
} from "@modelcontextprotocol/server";
import {
	askingParams,
	failedResult,
	type OrInput,
	REVISION_OF_STATELESS,
	relayedExtensions,
	SERVER_ERROR,
} from "xs-mcp-manager/core";
import { callOptions, DEFAULT_LOG_LEVEL } from "../mcp/call-options.js";
import { promptFor, resultFor, toolsFor } from "../mcp/contents.js";
import { sendForRevision } from "../mcp/send-for-revision.js";
import { SERVER_INFO } from "../mcp/server-info.js";
import { PATIENCE } from "./gateway-transport.js";

/** The gateway's end of a bridge, as the server at the client's end uses it. */
export interface GatewayEnd {
	/** A client of the gateway, in the stateless era; undefined until a gateway answers. */
	readonly client: Client | undefined;
	/** The client follows a resource from now on. Settles after the first attempt. */
	subscribe(uri: string): Promise<void>;
	unsubscribe(uri: string): void;
}

/** Results until a gateway has answered, by method. */
const WITHOUT_GATEWAY = {
	"resources/list": { resources: [] },
	"resources/templates/list": { resourceTemplates: [] },
	"prompts/list": { prompts: [] },
	"completion/complete": { completion: { values: [] } },
};

/** Members that 2026-07-28 adds to results, and the names in `_meta` reserved by MCP. */
const STATELESS_MEMBERS: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);
const RESERVED_META = "io.modelcontextprotocol/";

/**
 * The MCP server at the client's end of a bridge: passes requests on to the gateway as stateless ones, and answers in
 * the client's revision. The SDK sends a device's questions to clients of older revisions.
 */
export class BridgeServer extends Server {
	readonly #gateway: GatewayEnd;
	#logLevel: LoggingLevel = DEFAULT_LOG_LEVEL;

	constructor(gateway: GatewayEnd) {
		const instructions = gateway.client?.getInstructions();
		super(SERVER_INFO, {
			capabilities: {
				tools: { listChanged: true },
				resources: { listChanged: true, subscribe: true },
				prompts: { listChanged: true },
				completions: {},
				logging: {},
				...relayedExtensions(gateway.client?.getServerCapabilities()?.extensions),
			},
			...(instructions !== undefined && { instructions }),
		});
		this.#gateway = gateway;
		this.#serveLists();
		this.#serveTools();
		this.#serveResources();
		this.setRequestHandler("prompts/get", async ({ params }, context) => {
			const prompt = await this.#ask<GetPromptResult>("prompts/get", params, context);
			if (prompt === undefined) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
			}
			return isInputRequiredResult(prompt) ? prompt : promptFor(prompt, this.#revision);
		});
		this.setRequestHandler("logging/setLevel", ({ params }) => {
			this.#logLevel = params.level;
			return {};
		});
	}

	override async connect(transport: Transport): Promise<void> {
		sendForRevision(transport, () => this.#revision);
		await super.connect(transport);
	}

	/** A result, or a notification's parameters, of the gateway, without members that the client's revision lacks. */
	inRevision<Result extends object>(result: Result): Result {
		if (this.#revision >= REVISION_OF_STATELESS || isInputRequiredResult(result)) {
			return result;
		}
		const { _meta, ...rest } = result as { _meta?: Record<string, unknown> };
		const members = Object.entries(rest).filter(([name]) => !STATELESS_MEMBERS.has(name));
		const meta = Object.entries(_meta ?? {}).filter(([name]) => !name.startsWith(RESERVED_META));
		return { ...Object.fromEntries(members), ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) } as Result;
	}

	get #revision(): string {
		return this.getNegotiatedProtocolVersion() ?? "";
	}

	#serveLists(): void {
		for (const [method, nothing] of Object.entries(WITHOUT_GATEWAY)) {
			this.setRequestHandler(
				method as "prompts/list",
				async ({ params = {} }, context) => ((await this.#ask(method, params, context)) ?? nothing) as never,
			);
		}
		this.setRequestHandler("tools/list", async ({ params = {} }, context) => {
			const listed = (await this.#ask("tools/list", params, context)) ?? { tools: [] };
			const { tools, ...rest } = listed as ListToolsResult;
			return { ...rest, tools: [...toolsFor(tools, this.#revision)] };
		});
	}

	#serveTools(): void {
		this.setRequestHandler("tools/call", async ({ params }, context) => {
			try {
				const result = await this.#ask<CallToolResult>("tools/call", params, context);
				if (result === undefined) {
					return failedResult("No gateway is running yet. The call was not carried out.");
				}
				return isInputRequiredResult(result)
					? result
					: this.projectCallToolResult(resultFor(result, this.#revision), undefined);
			} catch (error) {
				return this.#failedCall(error);
			}
		});
	}

	#serveResources(): void {
		const read = async (params: { readonly uri: string }, context: ServerContext) => {
			const result = await this.#ask("resources/read", params, context);
			if (result === undefined) {
				throw new ResourceNotFoundError(params.uri);
			}
			return result as never;
		};
		this.setRequestHandler("resources/read", ({ params }, context) => read(params, context));
		this.setRequestHandler("resources/subscribe", async ({ params }, context) => {
			// The stateless revision accepts subscriptions to unknown resources.
			await read(params, context);
			await this.#gateway.subscribe(params.uri);
			return {};
		});
		this.setRequestHandler("resources/unsubscribe", async ({ params }) => {
			this.#gateway.unsubscribe(params.uri);
			return {};
		});
	}

	/** The gateway's answer, in the client's revision; undefined if no gateway has answered yet. */
	async #ask<Result extends object>(
		method: string,
		params: object & { readonly _meta?: object | undefined },
		context: ServerContext,
	): Promise<OrInput<Result> | undefined> {
		const { client } = this.#gateway;
		if (client === undefined) {
			return undefined;
		}
		const session = { capabilities: this.getClientCapabilities(), logLevel: this.#logLevel };
		const { onProgress, ...call } = callOptions(context, session, context.mcpReq.requestState<string>());
		const asking = askingParams(call);
		const passed = { ...params, ...asking, _meta: { ...params._meta, ...(asking._meta as object) } };
		const { signal } = context.mcpReq;
		const options: RequestOptions = {
			...PATIENCE,
			signal,
			allowInputRequired: true,
			...(onProgress && { onprogress: (progress) => onProgress({ ...progress }) }),
		};
		// Unlike request(), callTool() sends the headers that a tool declares for its arguments.
		const result =
			method === "tools/call"
				? await client.callTool(passed as never, options)
				: await client.request({ method, params: passed } as never, options);
		return this.inRevision(result as object) as OrInput<Result>;
	}

	#failedCall(error: unknown): CallToolResult {
		const { message, code } = error as Partial<ProtocolError> & Error;
		const isClientsFault =
			code !== ProtocolErrorCode.MissingRequiredClientCapability || this.#revision >= REVISION_OF_STATELESS;
		if (!ProtocolError.isInstance(error) || code === SERVER_ERROR) {
			return failedResult(`The gateway did not answer: ${message}. The call may have been carried out, or not.`);
		}
		if (isClientsFault) {
			throw error;
		}
		return failedResult(message);
	}
}
