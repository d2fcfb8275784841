import { EventEmitter } from "node:events";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { ServerError } from "../core/errors.js";
import type { ServerTool } from "../core/offers.js";
import type { CallOptions } from "../core/session.js";
import { failedResult, textResult } from "../core/tool-results.js";
import { runInitScript } from "./init-script.js";
import type { ProxyOptions } from "./proxy-options.js";
import * as texts from "./texts.js";
import { Upstream } from "./upstream.js";

export const ACTIVATE = "activate";

interface Events {
	/** The list of tools may be different. */
	toolsChanged: [];
}

/**
 * The tools of an upstream, as the host sees them. With a skill there is a gate: no call reaches the upstream before
 * `activate`, and only `activate` connects. Without one, the first call connects.
 */
export class ToolProxy extends EventEmitter<Events> {
	readonly #options: ProxyOptions;
	readonly #upstream: Upstream;
	#isLocked: boolean;
	/** Whether there has been a connection: the next one is a reconnection. */
	#wasConnected = false;
	#activating: Promise<CallToolResult> | undefined;
	#listing: Promise<void> | undefined;
	/** As the upstream listed them last; undefined until it did. */
	#tools: readonly ServerTool[] | undefined;

	constructor(options: ProxyOptions) {
		super();
		this.#options = options;
		this.#isLocked = options.skill !== "";
		this.#upstream = new Upstream(options.upstream);
		this.#upstream.on("toolsChanged", () => this.emit("toolsChanged"));
	}

	/** What the host is told at the start. */
	get instructions(): string | undefined {
		return this.#isGated ? texts.gateInstructions(this.#options.skill) : undefined;
	}

	/** With the upstream's schemas if it answers, or has answered before; else with the names that are known. */
	async listTools(): Promise<Tool[]> {
		this.#listing ??= this.#fetchTools()
			.catch(() => {})
			.finally(() => {
				this.#listing = undefined;
			});
		await this.#listing;
		const { tools: names = [] } = this.#options;
		const tools = this.#tools ?? names.map((name): ServerTool => ({ name, inputSchema: { type: "object" } }));
		const offered = tools.filter(({ name }) => this.#offers(name));
		return this.#isGated ? [activateTool(this.#options), ...offered] : offered;
	}

	/** Rejects with the SDK's ProtocolError if that is the upstream's answer. */
	async callTool(name: string, args: object, options: CallOptions): Promise<CallToolResult> {
		if (this.#isGated && name === ACTIVATE) {
			return await this.#activate();
		}
		if (!this.#offers(name)) {
			return failedResult(`Tool ${name} not found`);
		}
		const call = (): Promise<CallToolResult> => this.#upstream.callTool(name, args, options);
		try {
			return this.#isGated ? await this.#callGated(call) : await this.#callTransparent(call);
		} catch (error) {
			if (error instanceof ServerError) {
				return failedResult(`${error.message}. ${texts.PERHAPS_CARRIED_OUT}`);
			}
			throw error;
		}
	}

	async close(): Promise<void> {
		await this.#upstream.disconnect("the host has disconnected");
	}

	get #isGated(): boolean {
		return this.#options.skill !== "";
	}

	#offers(name: string): boolean {
		const { tools } = this.#options;
		return (tools === undefined || tools.includes(name)) && !(this.#isGated && name === ACTIVATE);
	}

	async #callGated(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
		if (this.#isLocked) {
			return failedResult(texts.locked(this.#options.skill));
		}
		try {
			return await call();
		} catch (error) {
			return this.#lost(error, texts.disconnected);
		}
	}

	/** Connects if that is needed. If the connection is lost, it connects again, once. */
	async #callTransparent(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
		try {
			return (await this.#connect()) ?? (await call());
		} catch (error) {
			const lost = this.#lost(error, texts.notReconnected);
			const failure = await this.#connect();
			if (failure !== undefined) {
				return lost;
			}
			if ((error as ServerError).code === "server-disconnected") {
				// The upstream must not do twice what it may have done already.
				return failedResult(`${texts.RECONNECTED} ${texts.PERHAPS_CARRIED_OUT}`);
			}
		}
		try {
			return await call();
		} catch (error) {
			return this.#lost(error, texts.notReconnected);
		}
	}

	/** The result of a call that failed because the connection was lost. Throws any other error. */
	#lost(error: unknown, describe: (reason: string) => string): CallToolResult {
		if (!(error instanceof ServerError) || (error.code !== "server-disconnected" && error.code !== "server-offline")) {
			throw error;
		}
		const text = describe(this.#upstream.lostReason);
		return failedResult(error.code === "server-disconnected" ? `${text} ${texts.PERHAPS_CARRIED_OUT}` : text);
	}

	/** Connects, unless it is connected. Returns the result of the call if that fails. */
	async #connect(): Promise<CallToolResult | undefined> {
		const describe = this.#wasConnected ? texts.notReconnected : texts.notConnected;
		try {
			await this.#upstream.connect();
			this.#wasConnected = true;
			return undefined;
		} catch (error) {
			return failedResult(describe((error as Error).message));
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
			if (!(await this.#upstream.check())) {
				await this.#upstream.connect();
			}
		} catch (error) {
			return failedResult(texts.notConnected((error as Error).message));
		}
		const { init } = this.#options;
		try {
			await this.#fetchTools();
			if (init !== undefined) {
				await runInitScript(this.#upstream, init, this.#tools ?? []);
			}
		} catch (error) {
			// An upstream that was not initialized must not be used: until the next activate, calls fail as disconnected.
			await this.#upstream.disconnect("activate failed");
			return failedResult(`activate failed: ${(error as Error).message}`);
		}
		this.#isLocked = false;
		this.emit("toolsChanged");
		const names = (this.#tools ?? []).map(({ name }) => name).filter((name) => this.#offers(name));
		const ran = init === undefined ? "" : ` ${init.script} was run by ${init.tool}.`;
		return textResult(`Connected to ${this.#options.upstream.url}.${ran} Tools (${names.length}): ${names.join(", ")}`);
	}

	async #fetchTools(): Promise<void> {
		this.#tools = await this.#upstream.listTools();
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
