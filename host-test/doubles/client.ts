import { type Features, McpServer, type McpServerOptions } from "../../src/mcp_server/mcp-server.js";
import type { McpSession, SessionOptions } from "../../src/mcp_server/mcp-session.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { settled } from "../harness.js";

/** A JSON-RPC message as a test looks at it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
export type Wire = any;

type ClientOptions<Context> = Partial<McpServerOptions<Context>> & {
	readonly context: Context;
	readonly features?: Features<Context>;
	readonly wrapper?: SessionOptions["wrapper"];
};

export class Client<Context> {
	readonly server: McpServer<Context>;
	readonly session: McpSession<Context>;
	readonly texts: string[] = [];
	readonly log: string[] = [];

	constructor({ features, ...options }: ClientOptions<Context>) {
		const log = (line: string): number => this.log.push(line);
		const serverOptions = { name: "test", version: "1.2.3", log, ...options };
		this.server = features?.serve(serverOptions) ?? new McpServer(serverOptions);
		this.session = this.server.open({
			send: (text) => this.texts.push(String(text)),
			...(options.wrapper && { wrapper: options.wrapper }),
		});
	}

	heard(): Wire[] {
		return this.texts.splice(0).map((text) => JSON.parse(text));
	}

	say(text: string): Wire[] {
		this.session.receiveText(text);
		return this.heard();
	}

	ask(method: string, params?: object, id: string | number = 1): Wire {
		const answers = this.say(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		if (answers.length !== 1) {
			throw new Error(`${answers.length} answers to ${method}`);
		}
		return answers[0];
	}

	initialize(protocolVersion?: string, capabilities: object = {}): Wire {
		return this.ask("initialize", { protocolVersion, capabilities, clientInfo: { name: "tester", version: "1" } });
	}

	call(name: string, args: object = {}, id: string | number = 1): Wire {
		return this.ask("tools/call", { name, arguments: args }, id);
	}

	/** Sends a request that takes its time, and returns what is heard until the server rests. */
	async request(method: string, params?: object, id: string | number = 1): Promise<Wire[]> {
		const heard = this.say(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		await settled();
		return [...heard, ...this.heard()];
	}

	cancel(requestId: string | number): Wire[] {
		return this.say(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }));
	}

	names(params?: object): string[] {
		return this.ask("tools/list", params).result.tools.map(({ name }: Wire) => name);
	}
}

export const failing = (thrown: unknown): Tool<undefined> =>
	tool("t", () => {
		throw thrown;
	});

export function clientWith(...tools: Tool<undefined>[]): Client<undefined> {
	return new Client<undefined>({ context: undefined, tools });
}

export function tool(
	name: string,
	run: (args: unknown, context: undefined, call: ToolCall) => unknown,
	more: { readonly description?: string; readonly audience?: "user" } = {},
): Tool<undefined> {
	return createTool<undefined, Record<never, never>, Record<never, never>>({
		name,
		description: "",
		run: run as () => string,
		...more,
	});
}

export const numbered = (count: number, description: string, audience?: "user"): Tool<undefined>[] =>
	Array.from({ length: count }, (_, at) =>
		tool(`${audience ?? "common"}.${at}`, () => at, { description, ...(audience && { audience }) }),
	);
