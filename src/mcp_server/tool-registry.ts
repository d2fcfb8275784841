import { ErrorCode, RpcError } from "./json-rpc.js";
import type { Tool } from "./tool.js";

const PAGE_START = '{"tools":[';
const PAGE_END = "]}";

/**
 * The tools of a server, in the order they are listed: common ones first, then those for users, each in the order they
 * were added. The order never changes between calls, as language models cache their prompts.
 */
export class ToolRegistry<Context> {
	/** Called after a tool was added or removed. */
	onChanged: (() => void) | undefined = undefined;
	readonly #byName = new Map<string, Tool<Context>>();
	readonly #common: Tool<Context>[] = [];
	readonly #user: Tool<Context>[] = [];
	readonly #maxEntryBytes: number;

	/** @param maxEntryBytes the largest list entry that is sure to fit on a page */
	constructor(maxEntryBytes: number) {
		this.#maxEntryBytes = maxEntryBytes;
	}

	/**
	 * @throws TypeError when a tool of that name is there already
	 * @throws RangeError when the tool's list entry fits on no page
	 */
	add(tool: Tool<Context>): void {
		if (this.#byName.has(tool.name)) {
			throw new TypeError(`tool ${tool.name} is there already`);
		}
		if (tool.entryBytes > this.#maxEntryBytes) {
			throw new RangeError(`tool ${tool.name}: ${tool.entryBytes} bytes listed, at most ${this.#maxEntryBytes} fit`);
		}
		this.#byName.set(tool.name, tool);
		(tool.userOnly ? this.#user : this.#common).push(tool);
		this.onChanged?.();
	}

	/** @returns whether there was such a tool */
	remove(name: string): boolean {
		const tool = this.#byName.get(name);
		if (tool === undefined) {
			return false;
		}
		this.#byName.delete(name);
		const list = tool.userOnly ? this.#user : this.#common;
		list.splice(list.indexOf(tool), 1);
		this.onChanged?.();
		return true;
	}

	get(name: string): Tool<Context> | undefined {
		return this.#byName.get(name);
	}

	/** How many tools there are, user tools included. */
	get size(): number {
		return this.#byName.size;
	}

	/**
	 * One page of `tools/list`: its `result`, as JSON.
	 *
	 * @param cursor the name of the first tool to list; "" for the beginning
	 * @param budget how many bytes the page may have
	 * @throws RpcError invalid params, when no listed tool has the cursor's name
	 */
	page(cursor: string, withUserTools: boolean, budget: number): string {
		const total = this.#common.length + (withUserTools ? this.#user.length : 0);
		const first = cursor === "" ? 0 : this.#indexOf(cursor, total);
		let bytes = PAGE_START.length + PAGE_END.length;
		let page = PAGE_START;
		for (let at = first; at < total; at += 1) {
			const tool = this.#at(at);
			const next = at + 1 < total ? nextCursor(this.#at(at + 1)) : "";
			bytes += tool.entryBytes + (at > first ? 1 : 0);
			if (at > first && bytes + next.length > budget) {
				return `${page}]${nextCursor(tool)}}`;
			}
			page += at > first ? `,${tool.entry}` : tool.entry;
		}
		return page + PAGE_END;
	}

	#at(index: number): Tool<Context> {
		const common = this.#common.length;
		return (index < common ? this.#common[index] : this.#user[index - common]) as Tool<Context>;
	}

	#indexOf(name: string, total: number): number {
		for (let at = 0; at < total; at += 1) {
			if (this.#at(at).name === name) {
				return at;
			}
		}
		throw new RpcError(ErrorCode.invalidParams, `cursor: ${JSON.stringify(name)} is none that this list gave`);
	}
}

/** Names hold only ASCII that needs no escape, so length is size in bytes. */
function nextCursor(tool: { readonly name: string }): string {
	return `,"nextCursor":"${tool.name}"`;
}
