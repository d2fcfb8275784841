import { setTimeout as delay } from "node:timers/promises";
import { isSpecType } from "@modelcontextprotocol/server";
import pLimit from "p-limit";
import { isObject } from "../../../src/text/is-object.js";
import { ServerError } from "./server-error.js";
import type { ServerTool, Session } from "./session.js";

export interface DiscoveryOptions {
	/** Servers asked at the same time. Default 64: thousands may connect at once after a power cut. */
	readonly discoveries?: number;
	/** Milliseconds that a server has to list its tools. Default 30,000. */
	readonly discoveryTimeout?: number;
	/** Is called for each tool that is left out. */
	readonly warn: (message: string) => void;
}

/** Milliseconds after which a slow server no longer counts: waiting for it costs little, and others want its place. */
const PLACE_TIME = 1_000;

/** Asks servers what they offer, not too many at the same time. */
export class Discovery {
	readonly #options: DiscoveryOptions;
	readonly #limit;

	constructor(options: DiscoveryOptions) {
		this.#options = options;
		this.#limit = pLimit(options.discoveries ?? 64);
	}

	/**
	 * Lists a server's tools, user-only ones included. Tools that are not valid MCP are left out: one of them would make a
	 * client reject the whole list, other servers' tools with it.
	 *
	 * Rejects with ServerError "timeout" when the list is not complete in time, and as {@link Session.listTools} does.
	 */
	async listTools(session: Session): Promise<ServerTool[]> {
		let listed: Promise<unknown[]> | undefined;
		await this.#limit(async () => {
			listed = this.#list(session);
			const done = new AbortController();
			const place = delay(PLACE_TIME, undefined, { signal: done.signal }).catch(() => {});
			// A failure is reported below.
			await Promise.race([listed.catch(() => {}), place]);
			done.abort();
		});
		return this.#validTools(session, (await listed) as unknown[]);
	}

	async #list(session: Session): Promise<unknown[]> {
		const { discoveryTimeout = 30_000 } = this.#options;
		const signal = AbortSignal.timeout(discoveryTimeout);
		try {
			return await session.listTools({ withUserTools: true, signal });
		} catch (error) {
			throw signal.aborted
				? new ServerError("timeout", `not within ${discoveryTimeout / 1000} s`, { cause: error })
				: error;
		}
	}

	#validTools(session: Session, listed: readonly unknown[]): ServerTool[] {
		const tools = new Map<string, ServerTool>();
		for (const item of listed) {
			const tool = validTool(item);
			if (tool === undefined || tools.has(tool.name)) {
				const name = isObject(item) ? String(JSON.stringify(item.name)).slice(0, 100) : "?";
				this.#options.warn(`${session.identity.id}: tool ${name} is left out: not a valid MCP tool, or listed twice`);
			} else {
				tools.set(tool.name, tool);
			}
		}
		return [...tools.values()];
	}
}

/** The members of a tool that MCP defines. Devices leave out the schema's type if a tool takes no arguments. */
export function validTool(item: unknown): ServerTool | undefined {
	if (!isObject(item) || !isObject(item.inputSchema)) {
		return undefined;
	}
	const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = item;
	const tool = {
		name,
		...(title !== undefined && { title }),
		...(description !== undefined && { description }),
		inputSchema: { type: "object", ...inputSchema },
		...(isObject(outputSchema) && { outputSchema }),
		...(annotations !== undefined && { annotations }),
		...(icons !== undefined && { icons }),
		...(_meta !== undefined && { _meta }),
	};
	return name !== "" && isSpecType.Tool(tool) ? (tool as ServerTool) : undefined;
}
