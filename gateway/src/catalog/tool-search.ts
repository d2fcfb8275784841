import type { Tool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import MiniSearch from "minisearch";
import type { Server, ServerTool } from "xs-mcp-manager/core";
import type { Catalog, FoundTool } from "./catalog.js";
import { isMeaning, isPlace, isQuestion, tellingTerms, termsOf } from "./search-words.js";

/** A search result: a tool of a server, or one that several devices share. */
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

/** A tool of one server, or of several that share it: the index has it once. */
interface Entry {
	readonly id: number;
	/** As its server names it. */
	readonly tool: string;
	readonly title: string | undefined;
	readonly description: string | undefined;
	readonly readOnly: boolean;
	readonly group: ToolHit | undefined;
	readonly members: readonly FoundTool[];
}

interface ToolIndex {
	readonly search: MiniSearch<Entry>;
	readonly entries: readonly Entry[];
	/** The words of each server's names: alias, board and tags. Of a word, its stem and the place that it means. */
	readonly names: ReadonlyMap<Server, readonly (readonly (readonly string[])[])[]>;
}

/** Limit of cached indexes: clients with different access have different ones. */
const MAX_INDEXES = 16;

/** Characters of a description that are searched. */
const MAX_SEARCHED_CHARACTERS = 1_000;

/** How much a meaning counts beside a word, and a tool of a device that the query names. */
const MEANING_WEIGHT = 0.5;
const DEVICE_WEIGHT = 4;
const WORD_BONUS = 0.1;

/** The weight of read-only tools for questions, and of acting tools for commands. */
const INTENT_WEIGHT = 1.6;

/** The shortest word for fuzzy and prefix search, in letters. */
const MIN_FUZZY = 6;
const MIN_PREFIX = 4;

/** By the groups of a catalog, which are rebuilt after each change. */
const indexes = new LRUCache<object, ToolIndex>({ max: MAX_INDEXES });

/**
 * Searches names, titles and descriptions of a catalog's tools, by words or a sentence. The best hits come first: tools of
 * devices that the query names, and tools that several devices share where it names none.
 */
export function searchTools(catalog: Catalog, { query, server: only }: ToolQuery): ToolHit[] {
	const { search, entries, names } = indexOf(catalog);
	const terms = tellingTerms(query);
	const asks = isQuestion(query);
	const found = search.search(terms.join(" "), {
		boostTerm: (term) => (isMeaning(term) ? MEANING_WEIGHT : 1),
		boostDocument: (id) => (entries[id as number]?.readOnly === asks ? INTENT_WEIGHT : 1),
	});
	const shares = new Map([...names].map(([server, each]) => [server, namedShare(each, new Set(terms))]));
	const isOnlyDevice = found.length === 0;
	const scored = isOnlyDevice ? entries.map(({ id }) => ({ id, score: 0 })) : found;
	const hits = scored.flatMap(({ id, score }) => {
		const { group, members } = entries[id as number] as Entry;
		const alone = members
			.filter(({ server }) => only === undefined || server.alias === only)
			.map((found) => ({ found, share: shares.get(found.server) ?? 0 }));
		const most = alone.reduce((max, { share }) => Math.max(max, share), 0);
		const isNamed = group === undefined || only !== undefined || alone.some(({ share }) => share < most);
		const named = alone.filter(
			({ share }) => share > 0 || (group === undefined && !isOnlyDevice) || only !== undefined,
		);
		return [
			...(isNamed ? named : []).map(({ found, share }) => ({
				hit: { name: catalog.listed(found).name, server: found.server.alias },
				score: (score || 1) * (1 + DEVICE_WEIGHT * share),
			})),
			...(group !== undefined && only === undefined && !isOnlyDevice ? [{ hit: group, score }] : []),
		];
	});
	return hits.sort((one, other) => other.score - one.score).map(({ hit }) => hit);
}

/** How much of one of a server's names a query names: 0 to 1, and a little more for each word, so that the longest name wins. */
function namedShare(names: readonly (readonly (readonly string[])[])[], terms: ReadonlySet<string>): number {
	const shares = names.map((words) => {
		const named = words.filter((word) => word.some((term) => terms.has(term))).length;
		return named / words.length + named * WORD_BONUS;
	});
	return Math.max(0, ...shares);
}

function indexOf(catalog: Catalog): ToolIndex {
	const { groups } = catalog;
	const index = indexes.get(groups) ?? makeIndex(catalog);
	indexes.set(groups, index);
	return index;
}

function makeIndex(catalog: Catalog): ToolIndex {
	const search = new MiniSearch<Entry>({
		fields: ["tool", "title", "description"],
		tokenize: termsOf,
		processTerm: (term) => term,
		searchOptions: {
			// A query's terms are terms already.
			tokenize: (query) => query.split(" "),
			boost: { tool: 3, title: 2 },
			prefix: (term) => !isMeaning(term) && term.length >= MIN_PREFIX,
			fuzzy: (term) => (!isMeaning(term) && term.length >= MIN_FUZZY ? 0.2 : false),
		},
	});
	const entries = entriesOf(catalog);
	search.addAll(entries);
	const namesOf = namer();
	const names = new Map(catalog.servers.map((server) => [server, namesOf(server)]));
	return { search, entries, names };
}

/** The terms of each word, made once: thousands of devices have the same board. */
function namer(): (server: Server) => (readonly string[])[][] {
	const known = new Map<string, readonly string[]>();
	const termsOfName = (word: string): readonly string[] => {
		const terms = known.get(word) ?? tellingTerms(word).filter((term) => isPlace(term) || !isMeaning(term));
		known.set(word, terms);
		return terms;
	};
	return ({ alias, board, tags }) =>
		[alias, board.name, ...tags].map((name) => name.split(/[^\p{L}\p{N}]+/u).map(termsOfName));
}

function entriesOf(catalog: Catalog): Entry[] {
	const entries: Entry[] = [];
	const grouped = new Map<ServerTool, Set<Server>>();
	const add = (listed: Tool, members: readonly FoundTool[], group?: ToolHit): void => {
		entries.push({
			id: entries.length,
			tool: members[0]?.tool.name ?? "",
			title: listed.title,
			description: listed.description?.slice(0, MAX_SEARCHED_CHARACTERS),
			readOnly: listed.annotations?.readOnlyHint === true,
			group,
			members,
		});
	};
	for (const [name, { listed, members }] of catalog.groups) {
		add(listed, members, { name, devices: members.length });
		for (const { server, tool } of members) {
			grouped.set(tool, (grouped.get(tool) ?? new Set()).add(server));
		}
	}
	for (const found of catalog.callable) {
		if (grouped.get(found.tool)?.has(found.server) !== true) {
			add(catalog.listed(found), [found]);
		}
	}
	return entries;
}
