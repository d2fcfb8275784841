import { type Hardware, isOffered } from "../../src/hardware/hardware.js";
import { type Feature, FeatureServer } from "../../src/mcp_server/features/feature-server.js";
import { Stateless } from "../../src/mcp_server/features/stateless.js";
import { McpServer, type McpServerOptions } from "../../src/mcp_server/mcp-server.js";
import type { McpSession, SessionOptions } from "../../src/mcp_server/mcp-session.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { findTools } from "../../src/platform/tools.js";
import { settled } from "../harness.js";
import { FakeTimer } from "./fake-timer.js";

/** A JSON-RPC message as a test looks at it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
export type Wire = any;

type ClientOptions<Context> = Partial<McpServerOptions<Context>> & {
	readonly context: Context;
	readonly features?: readonly Feature<Context>[];
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
		this.server = features ? new FeatureServer(features, serverOptions) : new McpServer(serverOptions);
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

	/** Sends a slow request, and returns the messages until the server rests. */
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

export const TOOLS = findTools();

export const clientOf = (board: Hardware): Client<Hardware> =>
	new Client<Hardware>({ context: board, tools: TOOLS.filter((tool) => isOffered(tool, board)) });

export async function callTool(client: Client<Hardware>, name: string, args: object = {}): Promise<Wire> {
	return (await client.request("tools/call", { name, arguments: args }))[0];
}

export const words = ({ result }: Wire): string => result.content[0].text;

export const VERSION = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

export const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export function meta(capabilities: object = ALL, more: object = {}): object {
	return { [VERSION]: "2026-07-28", [CAPABILITIES]: capabilities, ...more };
}

interface Options {
	readonly tools?: readonly Tool<undefined>[];
	readonly features?: readonly Feature<undefined>[];
}

export function statelessClient({ tools = [], features = [] }: Options = {}) {
	const timer = new FakeTimer();
	const all = [new Stateless<undefined>(), ...features];
	const client = new Client<undefined>({ context: undefined, tools, features: all, timer });
	let id = 0;
	const send = async (method: string, params: object = {}, _meta = meta()): Promise<Wire[]> => {
		id += 1;
		const heard = client.say(JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta, ...params } }));
		await settled();
		await timer.passed(0);
		return [...heard, ...client.heard()];
	};
	const ask = async (method: string, params: object = {}, _meta = meta()): Promise<Wire> => {
		const answers = (await send(method, params, _meta)).filter((message) => message.id === id);
		if (answers.length !== 1) {
			throw new Error(`${answers.length} answers to ${method}`);
		}
		return answers[0];
	};
	const call = async (name: string, more: object = {}, _meta = meta()): Promise<Wire> =>
		ask("tools/call", { name, ...more }, _meta);
	return { client, timer, send, ask, call, lastId: () => id };
}
