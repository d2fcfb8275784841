import { readFileSync } from "node:fs";
import { type CallToolResult, ProtocolError, ProtocolErrorCode, type Tool } from "@modelcontextprotocol/client";
import { ServerError } from "../core/errors.js";
import {
	LIST_NAMES,
	type ListName,
	NO_OFFERS,
	type Offers,
	type ServerTool,
	withoutExecution,
} from "../core/offers.js";
import type { Request, RequestContext } from "../core/request.js";
import type { Complete, Results } from "../core/results.js";
import { failedResult, textOf, textResult } from "../core/tool-results.js";
import type { ProxyOptions } from "./proxy-options.js";
import { UPSTREAM_TIMING, Upstream } from "./upstream.js";

const ACTIVATE = "activate";

/** Texts for the host's model, in Japanese and English. The host's instructions are all that it knows about a locked proxy. */
const TEXTS = {
	instructions: (skill: string) => `Before you use these tools, load the skill ${skill} and call the tool activate.`,
	locked: (skill: string) =>
		`スキル ${skill} が未ロードです。ロードしてから activate を呼んでください (Load the skill ${skill}, then call activate.)`,
	disconnected: (reason: string) =>
		"上流MCP切断。activate を再度呼んでください " +
		`(The upstream MCP server is disconnected: ${reason}. Call activate again.)`,
	notReconnected: (reason: string) =>
		"自動再接続失敗。上流サービスの状態を確認してください " +
		`(Automatic reconnection failed: ${reason}. Check the upstream service.)`,
	notConnected: (reason: string) =>
		`接続失敗。上流サービスの状態を確認してください (Connection failed: ${reason}. Check the upstream service.)`,
	/** Appended for a call that was in progress when the connection ended. */
	perhapsCarriedOut: "The call may have been carried out.",
	reconnected: "The upstream MCP server was disconnected during the call. The proxy has connected again.",
};

/**
 * The tools, resources and prompts of an upstream, as the host sees them. With a skill there is a gate: before
 * `activate` only the list of tools is requested from the upstream, and only `activate` connects. Without one, the
 * first request connects.
 */
export class McpProxy {
	readonly upstream: Upstream;
	readonly #options: ProxyOptions;
	#isLocked: boolean;
	/** Whether there has been a connection: the next one is a reconnection. */
	#wasConnected = false;
	#activating: Promise<CallToolResult> | undefined;

	constructor(options: ProxyOptions, timing = UPSTREAM_TIMING) {
		this.#options = options;
		this.#isLocked = options.skill !== "";
		const { upstream, connectTimeout: limit } = options;
		const limits = limit !== undefined && { connect: limit, start: limit, list: limit, ping: limit };
		this.upstream = new Upstream(upstream, { ...timing, ...limits });
	}

	get instructions(): string | undefined {
		return this.#isGated ? TEXTS.instructions(this.#options.skill) : undefined;
	}

	/**
	 * With the upstream's schemas if it answers or has answered before; else with the known names.
	 *
	 * Rejects with ProtocolError if the upstream fails to list them and nothing else is known.
	 */
	async listTools(): Promise<Tool[]> {
		await this.#refresh("tools");
		const { tools: names = [] } = this.#options;
		const isEnough = names.length > 0 || this.#isGated;
		const known = isEnough ? this.upstream.known("tools") : this.upstream.expect("tools");
		const tools = known ?? names.map((name): ServerTool => ({ name, inputSchema: { type: "object" } }));
		const offered = tools.filter(({ name }) => this.#offers(name)).map(withoutExecution);
		return this.#isGated ? [activateTool(this.#options), ...offered] : offered;
	}

	/**
	 * Resources, templates or prompts, as the upstream lists them or has listed them last. None while the gate is locked.
	 *
	 * Rejects with ProtocolError if the upstream fails to list them, and has never listed them.
	 */
	async list<List extends Exclude<ListName, "tools">>(list: List): Promise<Offers[List]> {
		if (this.#isLocked) {
			return NO_OFFERS[list];
		}
		await this.#refresh(list);
		return this.upstream.expect(list);
	}

	/** Rejects with the SDK's ProtocolError if that is the upstream's answer. */
	async callTool(name: string, args: object, context: RequestContext): Promise<CallToolResult> {
		if (this.#isGated && name === ACTIVATE) {
			return await this.#activate();
		}
		if (!this.#offers(name)) {
			return failedResult(`Tool ${name} not found`);
		}
		return await this.#pass(
			() => this.upstream.request({ method: "tools/call", params: { name, arguments: args } }, context),
			failedResult,
		);
	}

	/** Makes a request other than a call. Rejects with ProtocolError: that of the upstream, or one with the gate's text. */
	async request<Method extends keyof Results>(
		request: Request<Method>,
		context: RequestContext,
	): Promise<Complete<Results[Method]>> {
		return await this.#pass(
			() => this.upstream.request(request, context),
			(text) => {
				throw new ProtocolError(ProtocolErrorCode.InternalError, text);
			},
		);
	}

	get #isGated(): boolean {
		return this.#options.skill !== "";
	}

	#offers(name: string): boolean {
		const { tools } = this.#options;
		return (tools === undefined || tools.includes(name)) && !(this.#isGated && name === ACTIVATE);
	}

	/**
	 * Makes a request, unless the gate is locked. Without a gate it connects if that is needed; if the connection is lost, it connects
	 * again, once.
	 *
	 * @param fail makes a result of a text, or throws it
	 */
	async #pass<Result>(call: () => Promise<Result>, fail: (text: string) => Result): Promise<Result> {
		const isGated = this.#isGated;
		const locked = this.#isLocked ? TEXTS.locked(this.#options.skill) : undefined;
		try {
			const problem = isGated ? locked : await this.#connect();
			if (problem !== undefined) {
				return fail(problem);
			}
			try {
				return await call();
			} catch (error) {
				const lost = this.#lost(error, isGated ? TEXTS.disconnected : TEXTS.notReconnected);
				if (isGated || (await this.#connect()) !== undefined) {
					return fail(lost);
				}
				if ((error as ServerError).code === "server-disconnected") {
					// Not repeated: the upstream may already have done the work.
					return fail(`${TEXTS.reconnected} ${TEXTS.perhapsCarriedOut}`);
				}
			}
			return await call().catch((error) => fail(this.#lost(error, TEXTS.notReconnected)));
		} catch (error) {
			if (error instanceof ServerError) {
				return fail(`${error.message}. ${TEXTS.perhapsCarriedOut}`);
			}
			throw error;
		}
	}

	/** The text for a request that failed because the connection was lost. Throws any other error. */
	#lost(error: unknown, describe: (reason: string) => string): string {
		if (!(error instanceof ServerError) || (error.code !== "server-disconnected" && error.code !== "server-offline")) {
			throw error;
		}
		const text = describe(this.upstream.lostReason);
		return error.code === "server-disconnected" ? `${text} ${TEXTS.perhapsCarriedOut}` : text;
	}

	/** Connects, unless it is connected. Returns an error text if that fails. */
	async #connect(): Promise<string | undefined> {
		const describe = this.#wasConnected ? TEXTS.notReconnected : TEXTS.notConnected;
		try {
			await this.upstream.connect();
			this.#wasConnected = true;
			return undefined;
		} catch (error) {
			return describe((error as Error).message);
		}
	}

	#activate(): Promise<CallToolResult> {
		this.#activating ??= this.#activateOnce().finally(() => {
			this.#activating = undefined;
		});
		return this.#activating;
	}

	/** Connects if that is needed, runs the init script, and opens the gate. */
	async #activateOnce(): Promise<CallToolResult> {
		try {
			if (!(await this.upstream.check())) {
				await this.upstream.connect();
			}
		} catch (error) {
			return failedResult(TEXTS.notConnected((error as Error).message));
		}
		const { init } = this.#options;
		try {
			await this.upstream.refresh("tools");
			const tools = this.upstream.expect("tools");
			if (init !== undefined) {
				await runInitScript(this.upstream, init, tools);
			}
		} catch (error) {
			// An upstream that was not initialized must not be used: until the next activate, calls fail as disconnected.
			await this.upstream.disconnect("activate failed");
			return failedResult(`activate failed: ${(error as Error).message}`);
		}
		this.#isLocked = false;
		for (const list of LIST_NAMES) {
			this.upstream.emit("listChanged", list);
		}
		const names = (this.upstream.known("tools") ?? []).map(({ name }) => name).filter((name) => this.#offers(name));
		const ran = init === undefined ? "" : ` ${init.script} was run by ${init.tool}.`;
		return textResult(
			`Connected to ${this.#options.upstream.shown}.${ran} Tools (${names.length}): ${names.join(", ")}`,
		);
	}

	/** Reads a list, and updates the lists that the host sees. */
	async #refresh(list: ListName): Promise<void> {
		await this.upstream.refresh(list, this.#isLocked ? [] : LIST_NAMES);
	}
}

function activateTool({ skill, name }: ProxyOptions): ServerTool {
	return {
		name: ACTIVATE,
		description:
			`Connects to ${name} and unlocks its tools. Load the skill ${skill} first. ` +
			"Call it again if a tool says that the upstream is disconnected.",
		inputSchema: { type: "object", properties: {} },
		annotations: { idempotentHint: true },
	};
}

/** Characters of a failed script's answer, for the error message. */
const MAX_QUOTE = 1_000;

/**
 * Runs a script on the upstream, as the argument of one of its tools. Rejects with an Error with the reason.
 *
 * @param script its path. Read each time, so that a changed script needs no restart
 * @param tool the upstream's tool that runs it
 */
async function runInitScript(
	upstream: Upstream,
	{ script, tool }: { readonly script: string; readonly tool: string },
	tools: readonly ServerTool[],
): Promise<void> {
	const found = tools.find(({ name }) => name === tool);
	if (found === undefined) {
		throw new Error(`--init-tool: the upstream has no tool ${tool}`);
	}
	const code = readFileSync(script, "utf8");
	const { properties = {}, required = [] } = found.inputSchema;
	const parameter = Object.hasOwn(properties, "code") ? "code" : (required[0] ?? "code");
	const call = { name: tool, arguments: { [parameter]: code } };
	const { isError, content } = await upstream.request({ method: "tools/call", params: call });
	if (isError) {
		throw new Error(`${tool} failed with ${script}: ${textOf(content).slice(0, MAX_QUOTE)}`);
	}
}
