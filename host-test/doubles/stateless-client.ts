import { type Feature, FeatureSet } from "../../src/mcp_server/features/feature-set.js";
import { Stateless, type StatelessOptions } from "../../src/mcp_server/features/stateless.js";
import type { Tool } from "../../src/mcp_server/tool.js";
import { settled } from "../harness.js";
import { Client, type Wire } from "./client.js";
import { FakeTimer } from "./fake-timer.js";

export const VERSION = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

export const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export function meta(capabilities: object = ALL, more: object = {}): object {
	return { [VERSION]: "2026-07-28", [CAPABILITIES]: capabilities, ...more };
}

interface Options extends StatelessOptions {
	readonly tools?: readonly Tool<undefined>[];
	readonly features?: readonly Feature<undefined>[];
	readonly maxCalls?: number;
}

export function statelessClient({ tools = [], features = [], maxCalls = 16, ...options }: Options = {}) {
	const timer = new FakeTimer();
	const all = new FeatureSet<undefined>([new Stateless<undefined>(options), ...features]);
	const client = new Client<undefined>({ context: undefined, tools, features: all, timer, maxCalls });
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
