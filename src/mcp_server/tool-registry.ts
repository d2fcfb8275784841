import type { LongResult } from "./json-rpc.js";
import { PagedList } from "./paged-list.js";
import type { Tool } from "./tool.js";
import { memberNames } from "./validate.js";

/** Maximum characters of a name that is compared with those of the tools. */
const MAX_COMPARED = 64;

/** Minimum Sørensen–Dice coefficient of two names' words, for a suggestion. */
const MIN_LIKENESS = 0.5;

/** The words of a tool's name, without the first word of almost all names. */
const wordsOf = (name: string): readonly string[] =>
	name
		.toLowerCase()
		.split(/[^a-z0-9]+/)
		.filter((word) => word !== "" && word !== "self");

/** The tools of a server: common ones, then those for users. A stable order keeps prompt caches valid. */
export class ToolRegistry<Context> {
	/** Called after a tool was added or removed. */
	onChanged: (() => void) | undefined = undefined;
	/** The tools by name, in the order in which they were added. */
	readonly byName: Map<unknown, Tool<Context>> = new Map();
	/** The lists for clients, each made on first use: see {@link page}. */
	private lists: (PagedList | undefined)[] = [];
	private readonly maxEntryBytes: number;

	/** @param maxEntryBytes the largest list entry that fits on a page */
	constructor(maxEntryBytes: number) {
		this.maxEntryBytes = maxEntryBytes;
	}

	/**
	 * @throws TypeError if the name is already registered
	 * @throws RangeError if the tool's list entry does not fit on a page
	 */
	add(tool: Tool<Context>): void {
		if (this.byName.has(tool.name)) {
			throw new TypeError(`tool ${tool.name} is already registered`);
		}
		const { byteLength } = tool.entry;
		if (byteLength > this.maxEntryBytes) {
			throw new RangeError(`tool ${tool.name}: list entry of ${byteLength} bytes (limit ${this.maxEntryBytes})`);
		}
		this.byName.set(tool.name, tool);
		this.changed();
	}

	/** @returns whether the tool existed */
	remove(name: string): boolean {
		const existed = this.byName.delete(name);
		if (existed) {
			this.changed();
		}
		return existed;
	}

	/** Suggests the common tool that shares most words with a name; "" if they share less than half. */
	suggestion(name: string): string {
		const words = name.length > MAX_COMPARED ? [] : wordsOf(name);
		let suggestion = "";
		let best = MIN_LIKENESS;
		for (const tool of this.withAudience(false)) {
			const others = wordsOf(tool.name);
			const shared = words.filter((word) => others.some((other) => other.startsWith(word) || word.startsWith(other)));
			const likeness = (2 * shared.length) / (words.length + others.length);
			if (likeness > best) {
				best = likeness;
				suggestion = `. Did you mean ${tool.name}?`;
			}
		}
		return suggestion;
	}

	/** The names of all tools' arguments, and of their members. */
	argumentNames(): readonly string[] {
		return [...this.byName.values()].flatMap(memberNames);
	}

	private withAudience(isUser: boolean): readonly Tool<Context>[] {
		return [...this.byName.values()].filter(({ userOnly }) => userOnly === isUser);
	}

	/**
	 * One page of `tools/list`: its `result`.
	 *
	 * @param cursor the name of the first tool to list; "" for the beginning
	 * @param withUserTools whether it also has the tools for users
	 * @param isPlain whether the tools are in the form for clients of 2024-11-05
	 * @param budget the largest page as JSON, in bytes
	 * @throws RpcError invalid params, for an unknown cursor
	 */
	page(cursor: string, withUserTools: boolean, isPlain: boolean, budget: number): LongResult {
		// Not by name: XS copies a text that is written in a function at each use.
		const at = (withUserTools ? 1 : 0) + (isPlain ? 2 : 0);
		let list = this.lists[at];
		if (list === undefined) {
			const tools = this.withAudience(false).concat(withUserTools ? this.withAudience(true) : []);
			list = new PagedList("tools", isPlain ? tools.map(({ plain }) => plain) : tools);
			this.lists[at] = list;
		}
		return list.page(cursor, budget);
	}

	private changed(): void {
		this.lists = [];
		this.onChanged?.();
	}
}
