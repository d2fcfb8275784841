import type { Tool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import MiniSearch, { type SearchResult } from "minisearch";
import type { Catalog } from "./catalog.js";
import { isQuestion, stemOf, synonymsOf, tellingWords, wordsOf } from "./search-words.js";

/** A search result. */
interface ToolHit {
	/** As clients call it. */
	readonly name: string;
	/** The alias of its server. Undefined for a group. */
	readonly server?: string | undefined;
	/** How many devices a group has. */
	readonly devices?: number | undefined;
}

interface ToolQuery {
	readonly query: string;
	/** Only tools of the server with this alias. */
	readonly server?: string | undefined;
}

/** The searched fields of a tool. The device's name has its own weight, because all tools of the device share it. */
interface Entry extends ToolHit {
	/** As its server names it. */
	readonly tool: string;
	readonly title: string | undefined;
	readonly description: string | undefined;
	/** The alias of its server, and the name of its board. */
	readonly device: string;
	readonly readOnly: boolean;
}

interface ToolIndex {
	readonly search: MiniSearch<Entry>;
	/** The stems in the servers' aliases. */
	readonly aliasStems: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Limit of cached indexes: clients with different access have different ones. */
const MAX_INDEXES = 16;

/** Characters of a description that are searched. */
const MAX_SEARCHED_CHARACTERS = 1_000;

/** Tools that are indexed at a time, before other work of the gateway gets its turn. */
const CHUNK = 100;

/** How much a synonym counts, and a tool of a device that the query names. */
const SYNONYM_WEIGHT = 0.5;
const DEVICE_WEIGHT = 4;

/** How much a tool of several devices counts beside the same tool of one that the query does not name. */
const GROUP_WEIGHT = 2;

/** The weight of read-only tools for questions, and of acting tools for commands. */
const INTENT_WEIGHT = 1.6;

/** The shortest word for fuzzy and prefix search, in letters. */
const MIN_FUZZY = 6;
const MIN_PREFIX = 4;

/** By the list of tools, which is a new array after each change. */
const indexes = new LRUCache<object, Promise<ToolIndex>>({ max: MAX_INDEXES });

/** Searches names, titles and descriptions of a catalog's tools, by words or a sentence. The best hits come first. */
export async function searchTools(catalog: Catalog, { query, server }: ToolQuery): Promise<ToolHit[]> {
	const { search, aliasStems } = await indexOf(catalog);
	const stems = tellingWords(wordsOf(query)).map(stemOf);
	const weights = new Map(stems.flatMap((stem) => synonymsOf(stem).map((each) => [each, SYNONYM_WEIGHT])));
	for (const stem of stems) {
		weights.set(stem, 1);
	}
	const terms = [...weights.keys()];
	const asks = isQuestion(query);
	const hits = search.search(terms.join(" "), {
		filter: (hit: SearchResult) => server === undefined || hit.server === server,
		boostTerm: (term) => weights.get(term) ?? 1,
		boostDocument: (_id, _term, stored) => (stored?.readOnly === asks ? INTENT_WEIGHT : 1),
	});
	const scored = hits.map(({ name, server: alias, devices, score }) => ({
		hit: { name, ...(alias === undefined ? { devices } : { server: alias }) } as ToolHit,
		score: score * (alias === undefined ? GROUP_WEIGHT : 1 + DEVICE_WEIGHT * namedShare(aliasStems.get(alias), stems)),
	}));
	return scored.sort((one, other) => other.score - one.score).map(({ hit }) => hit);
}

/** How much of an alias a query names, from 0 to 1. */
function namedShare(alias: ReadonlySet<string> | undefined, stems: readonly string[]): number {
	const named = new Set(stems.filter((stem) => alias?.has(stem)));
	return alias === undefined || named.size === 0 ? 0 : named.size / alias.size;
}

function indexOf(catalog: Catalog): Promise<ToolIndex> {
	const { allTools } = catalog;
	let index = indexes.get(allTools);
	if (index === undefined) {
		index = makeIndex(catalog);
		indexes.set(allTools, index);
	}
	return index;
}

async function makeIndex(catalog: Catalog): Promise<ToolIndex> {
	const search = new MiniSearch<Entry>({
		idField: "name",
		fields: ["tool", "title", "description", "device"],
		storeFields: ["name", "server", "devices", "readOnly"],
		tokenize: wordsOf,
		processTerm: stemOf,
		searchOptions: {
			// A query's terms are stems already.
			processTerm: (term) => term,
			boost: { tool: 3, title: 2, device: 0.5 },
			prefix: (term) => term.length >= MIN_PREFIX,
			fuzzy: (term) => (term.length >= MIN_FUZZY ? 0.2 : false),
		},
	});
	const entries = entriesOf(catalog);
	await search.addAllAsync(entries, { chunkSize: CHUNK });
	const aliases = catalog.servers.map(({ alias }) => alias);
	const aliasStems = new Map(aliases.map((alias) => [alias, new Set(wordsOf(alias).map(stemOf))]));
	return { search, aliasStems };
}

function entriesOf(catalog: Catalog): Entry[] {
	const groups = [...catalog.groups.values()].map(({ listed, members }) =>
		entryOf(listed, { devices: members.length, tool: members[0]?.tool.name ?? "", device: "" }),
	);
	const single = catalog.allTools.flatMap((listed: Tool) => {
		const found = catalog.findTool(listed.name);
		if (found === undefined) {
			return [];
		}
		const { alias, board } = found.server;
		return [entryOf(listed, { server: alias, tool: found.tool.name, device: `${alias} ${board.name}` })];
	});
	return [...groups, ...single];
}

function entryOf(listed: Tool, of: Pick<Entry, "server" | "devices" | "tool" | "device">): Entry {
	return {
		name: listed.name,
		title: listed.title,
		description: listed.description?.slice(0, MAX_SEARCHED_CHARACTERS),
		readOnly: listed.annotations?.readOnlyHint === true,
		...of,
	};
}
