import { type LongResult, type Params, readCursor, resultOverhead } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import { type Listed, PagedList } from "../paged-list.js";
import type { ToolCall } from "../tool-call.js";
import type { Completers } from "./completion.js";

/** A feature that offers a list of items, which may change at run time. */
export abstract class ListFeature<Context, Item extends Listed & { readonly complete: Completers }> {
	protected readonly items: Item[] = [];
	protected server: McpServer<Context> | undefined;
	/** The word for an item: "prompt". */
	private readonly noun: string;

	/** @throws TypeError for two items with the same key */
	constructor(noun: string, items: readonly Item[]) {
		this.noun = noun;
		for (const item of items) {
			this.add(item);
		}
	}

	/** Offers the items on a server, and notifies it of their changes. */
	attach(server: McpServer<Context>): void {
		this.server = server;
	}

	/** @throws TypeError if the key is already registered */
	add(item: Item): void {
		if (this.find(item.key) !== undefined) {
			throw new TypeError(`${this.noun} ${item.key} is already registered`);
		}
		this.items.push(item);
		this.server?.changed(`notifications/${this.noun}s/list_changed`);
	}

	/**
	 * @param key a prompt's name; a resource's URI or template
	 * @returns whether the item existed
	 */
	remove(key: string): boolean {
		const item = this.find(key);
		if (item === undefined) {
			return false;
		}
		this.items.splice(this.items.indexOf(item), 1);
		this.server?.changed(`notifications/${this.noun}s/list_changed`);
		return true;
	}

	/** Returns the completers of an item's arguments; undefined if there is no such item. */
	completersOf(key: string): Completers | undefined {
		return this.find(key)?.complete;
	}

	/** Returns the item with a key. */
	protected find(key: string): Item | undefined {
		return this.items.find((item) => item.key === key);
	}

	/** A page of a list. @param member of the result: "prompts" */
	protected page(member: string, items: readonly Item[], params: Params, { id, session }: ToolCall): LongResult {
		return new PagedList(member, items).page(readCursor(params), session.pageBytes - resultOverhead(id));
	}
}
