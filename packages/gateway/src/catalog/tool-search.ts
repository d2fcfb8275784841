import type { Tool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import MiniSearch from "minisearch";
import type { Server, ServerTool } from "xs-mcp-manager/core";
import type { Catalog, FoundTool } from "./catalog.js";

/** A search result: a tool of a server, or one that several devices share. */
interface ToolHit {
	/** Name that clients call. */
	readonly name: string;
	/** The alias of its server. Undefined for a group. */
	readonly server?: string | undefined;
	/** How many devices a group has. */
	readonly devices?: number | undefined;
}

/** Words that a client can search for, most common first. Each list is cut to a share of {@link DIRECTORY_CHARACTERS}. */
interface Directory {
	/** Rooms and other tags. */
	readonly tags: readonly string[];
	/** Parts of devices, from the choices of arguments: "desk lamp". */
	readonly parts: readonly string[];
	/** Tools without device and "self.": "light.set". */
	readonly tools: readonly string[];
	/** Aliases of devices and other servers, with their titles. */
	readonly devices: readonly string[];
}

export interface ToolSearch {
	/** Best first. */
	readonly hits: readonly ToolHit[];
	/** Set if the best hit matches no rare word of a tool's name, title or parts. */
	readonly directory?: Directory;
}

/** A tool of one server, or of several that share it: the index has it once. */
interface Entry {
	readonly id: number;
	/** Name at its server. */
	readonly tool: string;
	readonly title: string | undefined;
	readonly description: string | undefined;
	readonly parts: readonly string[];
	readonly group: ToolHit | undefined;
	readonly members: readonly FoundTool[];
}

interface ToolIndex {
	readonly search: MiniSearch<Entry>;
	readonly entries: readonly Entry[];
	/** How many tools have a term in their name, title or parts. */
	readonly frequencies: ReadonlyMap<string, number>;
	/** Terms of each server's names: alias, title, board and tags. */
	readonly names: ReadonlyMap<Server, readonly (readonly string[])[]>;
	readonly directory: Directory;
}

/** Limit of cached indexes: clients with different access have different ones. */
const MAX_INDEXES = 16;

/** Characters of a description that are searched. */
const MAX_SEARCHED_CHARACTERS = 1_000;

/** Weight of a tool whose device the query names, and the bonus of each word of that name. */
const DEVICE_WEIGHT = 4;
const WORD_BONUS = 0.1;

/** The shortest word for fuzzy and prefix search, in letters. */
const MIN_FUZZY = 6;
const MIN_PREFIX = 4;

/** A term is rare if at most this share of the tools have it. */
const RARE = 0.25;

/** Limit of each list of a directory: together about 400 tokens of a language model. */
const DIRECTORY_CHARACTERS = { tags: 250, parts: 300, tools: 700, devices: 300 };

const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/u;
const CAMEL_CASE = /(\p{Ll}|\p{N})(\p{Lu})/gu;
/** Scripts that put no spaces between words. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]+/gu;

/** Indexes by the groups of a catalog, which are rebuilt after each change. */
const indexes = new LRUCache<object, ToolIndex>({ max: MAX_INDEXES });

/**
 * Searches names, titles, parts and descriptions of a catalog's tools. Tools of devices that the query names come first, and
 * shared tools where it names none. Nothing is translated: for a weak match, the directory has words for a second search.
 *
 * @param only alias: only tools of this server
 */
export function searchTools(catalog: Catalog, query: string, only?: string): ToolSearch {
	const groups = catalog.lists.groups();
	const index = indexes.get(groups) ?? makeIndex(catalog);
	indexes.set(groups, index);
	const { search, entries, frequencies, names, directory } = index;
	const terms = new Set(termsOf(query));
	/** How much of one of a server's names the query names: 0 to 1, and a little more for each word, so that the longest name wins. */
	const shareOf = (words: readonly string[]): number => {
		const named = words.filter((word) => terms.has(word)).length;
		return named / words.length + named * WORD_BONUS;
	};
	const shares = new Map([...names].map(([server, each]) => [server, Math.max(0, ...each.map(shareOf))]));
	const found = search.search(query);
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
	const total = entries.reduce((sum, { members }) => sum + members.length, 0);
	const isRare = (term: string): boolean => (frequencies.get(term) ?? 0) <= Math.max(1, RARE * total);
	const isStrong =
		(isOnlyDevice && hits.length > 0) ||
		Object.entries(found[0]?.match ?? {}).some(
			([term, fields]) => isRare(term) && fields.some((field) => field !== "description"),
		);
	return {
		hits: hits.sort((one, other) => other.score - one.score).map(({ hit }) => hit),
		...(!isStrong && { directory }),
	};
}

function makeIndex(catalog: Catalog): ToolIndex {
	const search = new MiniSearch<Entry>({
		fields: ["tool", "title", "parts", "description"],
		tokenize: termsOf,
		processTerm: (term) => term,
		extractField: (entry, field) => String(entry[field as keyof Entry] ?? ""),
		searchOptions: {
			boost: { tool: 3, title: 2, parts: 2 },
			prefix: (term) => term.length >= MIN_PREFIX,
			fuzzy: (term) => (term.length >= MIN_FUZZY ? 0.2 : false),
		},
	});
	const entries = entriesOf(catalog);
	search.addAll(entries);
	const frequencies = new Map<string, number>();
	for (const { tool, title = "", parts, members } of entries) {
		for (const term of new Set(termsOf([tool, title, ...parts].join(" ")))) {
			frequencies.set(term, (frequencies.get(term) ?? 0) + members.length);
		}
	}
	const names = new Map(
		catalog.servers.map((server) => {
			const { alias, title = alias, board, tags } = server;
			return [server, [alias, title, board.name, ...tags].map(termsOf)];
		}),
	);
	return { search, entries, frequencies, names, directory: makeDirectory(catalog, entries) };
}

function makeDirectory({ servers }: Catalog, entries: readonly Entry[]): Directory {
	const byMembers = [...entries].sort((one, other) => other.members.length - one.members.length);
	const words = {
		tags: servers.flatMap(({ tags }) => tags),
		parts: entries.flatMap(({ parts }) => parts),
		tools: byMembers.map(({ tool }) => tool.replace(/^self\./, "")),
		devices: servers.map(({ alias, title }) => (title === undefined ? alias : `${alias} (${title})`)),
	};
	/** The first different words that fit. */
	const cut = (name: keyof typeof words): string[] => {
		let left = DIRECTORY_CHARACTERS[name];
		return [...new Set(words[name])].filter((word) => {
			left -= word.length + 2;
			return left >= 0;
		});
	};
	return { tags: cut("tags"), parts: cut("parts"), tools: cut("tools"), devices: cut("devices") };
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
			// The values of arguments that are one of several texts, such as the names of a device's lights.
			parts: Object.values(listed.inputSchema.properties ?? {}).flatMap((argument) => {
				const choices = (argument as { enum?: unknown }).enum;
				return Array.isArray(choices) ? choices.filter((each) => typeof each === "string") : [];
			}),
			group,
			members,
		});
	};
	for (const [name, { listed, members }] of catalog.lists.groups()) {
		add(listed, members, { name, devices: members.length });
		for (const { server, tool } of members) {
			grouped.set(tool, (grouped.get(tool) ?? new Set()).add(server));
		}
	}
	for (const found of catalog.lists.members()) {
		if (grouped.get(found.tool)?.has(found.server) !== true) {
			add(catalog.listed(found), [found]);
		}
	}
	return entries;
}

/** Returns the words of a text in lower case, names taken apart, and pairs of characters where a script has no spaces. */
function termsOf(text: string): string[] {
	const words = text.replace(CAMEL_CASE, "$1 $2").toLowerCase().split(SEPARATORS).filter(Boolean);
	return words.flatMap((word) => [
		...word.replace(WITHOUT_SPACES, " ").split(" ").filter(Boolean),
		...(word.match(WITHOUT_SPACES) ?? []).flatMap(pairs),
	]);
}

function pairs(text: string): string[] {
	const characters = [...text];
	return characters.length < 2 ? characters : characters.slice(1).map((each, index) => `${characters[index]}${each}`);
}
