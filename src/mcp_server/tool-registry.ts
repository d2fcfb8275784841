import type { LongResult } from "./json-rpc.js";
import { PagedList } from "./paged-list.js";
import type { Tool } from "./tool.js";
import { memberNames } from "./validate.js";

/**
 * The tools of a server, in the order they are listed: common ones first, then those for users, each in the order they
 * were added. The order never changes between calls, as language models cache their prompts.
 */
export class ToolRegistry<Context> {
	/** Called after a tool was added or removed. */
	onChanged: (() => void) | undefined = undefined;
	readonly #byName = new Map<string, Tool<Context>>();
	/** In the order of the list: the common ones, then those for users. */
	readonly #tools: Tool<Context>[] = [];
	#commonCount = 0;
	/** The list that common clients get, and the one with user tools. Made when asked for. */
	#commonList: PagedList | undefined;
	#wholeList: PagedList | undefined;
	readonly #maxEntryBytes: number;

	/** @param maxEntryBytes the largest list entry that is sure to fit on a page */
	constructor(maxEntryBytes: number) {
		this.#maxEntryBytes = maxEntryBytes;
	}

	/**
	 * @throws TypeError when a tool of that name is already registered
	 * @throws RangeError when the tool's list entry fits on no page
	 */
	add(tool: Tool<Context>): void {
		if (this.#byName.has(tool.name)) {
			throw new TypeError(`tool ${tool.name} is already registered`);
		}
		if (tool.entryBytes > this.#maxEntryBytes) {
			throw new RangeError(`tool ${tool.name}: list entry of ${tool.entryBytes} bytes (limit ${this.#maxEntryBytes})`);
		}
		this.#byName.set(tool.name, tool);
		if (tool.userOnly) {
			this.#tools.push(tool);
		} else {
			this.#tools.splice(this.#commonCount, 0, tool);
			this.#commonCount += 1;
		}
		this.#changed();
	}

	/** @returns whether there was such a tool */
	remove(name: string): boolean {
		const tool = this.#byName.get(name);
		if (tool === undefined) {
			return false;
		}
		this.#byName.delete(name);
		this.#tools.splice(this.#tools.indexOf(tool), 1);
		this.#commonCount -= tool.userOnly ? 0 : 1;
		this.#changed();
		return true;
	}

	get(name: string): Tool<Context> | undefined {
		return this.#byName.get(name);
	}

	/** The names of all tools' arguments, and of their members. */
	argumentNames(): readonly string[] {
		return this.#tools.flatMap(({ input }) => memberNames(input));
	}

	/** How many tools there are, user tools included. */
	get size(): number {
		return this.#byName.size;
	}

	/**
	 * One page of `tools/list`: its `result`.
	 *
	 * @param cursor the name of the first tool to list; "" for the beginning
	 * @param budget how many bytes the page may have, as JSON
	 * @throws RpcError invalid params, for an unknown cursor
	 */
	page(cursor: string, withUserTools: boolean, budget: number): LongResult {
		if (withUserTools) {
			this.#wholeList ??= new PagedList("tools", this.#tools.slice());
			return this.#wholeList.page(cursor, budget);
		}
		this.#commonList ??= new PagedList("tools", this.#tools.slice(0, this.#commonCount));
		return this.#commonList.page(cursor, budget);
	}

	#changed(): void {
		this.#commonList = undefined;
		this.#wholeList = undefined;
		this.onChanged?.();
	}
}
