import type { LongResult } from "./json-rpc.js";
import { PagedList } from "./paged-list.js";
import type { Tool } from "./tool.js";
import { memberNames } from "./validate.js";

/** Which tools a list has: without user tools, or all; "plain" is the form for clients of 2024-11-05. */
export type ListKind = "common" | "plain" | "all" | "all plain";

/** The list that a client gets. */
export const listKindOf = (hasDetails: boolean, withUserTools: boolean): ListKind => {
	if (hasDetails) {
		return withUserTools ? "all" : "common";
	}
	return withUserTools ? "all plain" : "plain";
};

/** Characters of a name that is compared with those of the tools. */
const MAX_COMPARED = 64;

/** Shared words of two names, in parts of all their words. */
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
	/** The tools by name. */
	readonly byName: Map<unknown, Tool<Context>> = new Map();
	/** Tools in the order of the list: the common ones, then those for users. */
	private readonly tools: Tool<Context>[] = [];
	private commonCount = 0;
	/** The lists for clients, each made on first use: see {@link page}. */
	private lists: Partial<Record<ListKind, PagedList>> = {};
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
		if (tool.userOnly) {
			this.tools.push(tool);
		} else {
			this.tools.splice(this.commonCount, 0, tool);
			this.commonCount += 1;
		}
		this.changed();
	}

	/** @returns whether the tool existed */
	remove(name: string): boolean {
		const tool = this.byName.get(name);
		if (tool === undefined) {
			return false;
		}
		this.byName.delete(name);
		this.tools.splice(this.tools.indexOf(tool), 1);
		this.commonCount -= tool.userOnly ? 0 : 1;
		this.changed();
		return true;
	}

	/** The name of a common tool that shares most words with another name; undefined if they share less than half. */
	nearest(name: string): string | undefined {
		const words = name.length > MAX_COMPARED ? [] : wordsOf(name);
		let nearest: string | undefined;
		let best = MIN_LIKENESS;
		for (const tool of this.tools.slice(0, this.commonCount)) {
			const others = wordsOf(tool.name);
			const shared = words.filter((word) => others.some((other) => other.startsWith(word) || word.startsWith(other)));
			const likeness = (2 * shared.length) / (words.length + others.length);
			if (likeness > best) {
				best = likeness;
				nearest = tool.name;
			}
		}
		return nearest;
	}

	/** The names of all tools' arguments, and of their members. */
	argumentNames(): readonly string[] {
		return this.tools.flatMap(memberNames);
	}

	/**
	 * One page of `tools/list`: its `result`.
	 *
	 * @param cursor the name of the first tool to list; "" for the beginning
	 * @param kind which tools, and in which form
	 * @param budget the largest page as JSON, in bytes
	 * @throws RpcError invalid params, for an unknown cursor
	 */
	page(cursor: string, kind: ListKind, budget: number): LongResult {
		return (this.lists[kind] ?? this.list(kind)).page(cursor, budget);
	}

	private list(kind: ListKind): PagedList {
		const isWhole = kind === "all" || kind === "all plain";
		const tools = this.tools.slice(0, isWhole ? this.tools.length : this.commonCount);
		const list = new PagedList(
			"tools",
			kind === "plain" || kind === "all plain" ? tools.map(({ plain }) => plain) : tools,
		);
		this.lists[kind] = list;
		return list;
	}

	private changed(): void {
		this.lists = {};
		this.onChanged?.();
	}
}
