import { invalidParams, type LongResult, quotable } from "./json-rpc.js";
import type { Tool } from "./tool.js";
import { memberNames } from "./validate.js";

const PAGE_START = '{"tools":[';
const PAGE_END = "]}";

/** Room for the longest cursor, a tool's name: names are ASCII and need no escape. */
const CURSOR_BYTES = ',"nextCursor":""'.length + 128;

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
	/** The tools' list entries, in the same order. */
	#entries: readonly string[] = [];
	/** Where each entry begins in a list of all, in bytes, a comma after each; and where the list ends. */
	#offsets: readonly number[] = [0];
	#commonCount = 0;
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
	 * @throws RpcError invalid params, when no listed tool has the cursor's name
	 */
	page(cursor: string, withUserTools: boolean, budget: number): LongResult {
		const total = withUserTools ? this.#tools.length : this.#commonCount;
		const first = cursor === "" ? 0 : this.#indexOf(cursor, total);
		const offsets = this.#offsets;
		const start = offsets[first] as number;
		const room = start + budget - PAGE_START.length - PAGE_END.length;
		let last = total;
		if ((offsets[total] as number) > room) {
			last = first + 1;
			while ((offsets[last + 1] as number) <= room - CURSOR_BYTES) {
				last += 1;
			}
		}
		const items = this.#entries.slice(first, last);
		const after = last < total ? `],"nextCursor":"${this.#tools[last]?.name}"}` : PAGE_END;
		// The last item has no comma after it.
		const itemBytes = first < last ? (offsets[last] as number) - start - 1 : 0;
		return { before: PAGE_START, items, after, bytes: PAGE_START.length + itemBytes + after.length };
	}

	#indexOf(name: string, total: number): number {
		const at = this.#tools.findIndex((tool) => tool.name === name);
		if (at < 0 || at >= total) {
			throw invalidParams(`cursor: ${JSON.stringify(quotable(name))} is not one that this list gave`);
		}
		return at;
	}

	#changed(): void {
		let end = 0;
		this.#entries = this.#tools.map(({ entry }) => entry);
		this.#offsets = [
			0,
			...this.#tools.map(({ entryBytes }) => {
				end += entryBytes + 1;
				return end;
			}),
		];
		this.onChanged?.();
	}
}
