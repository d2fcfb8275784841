import { LRUCache } from "lru-cache";
import MiniSearch, { type SearchResult } from "minisearch";
import type { Catalog } from "./catalog.js";

/** A tool that a search has found. */
interface ToolHit {
	/** As clients call it. */
	readonly name: string;
	/** The alias of its server. */
	readonly server: string;
}

interface ToolQuery {
	readonly query: string;
	/** Only tools of the server with this alias. */
	readonly server?: string | undefined;
}

/** What is searched of a tool. */
interface Entry extends ToolHit {
	readonly title: string | undefined;
	readonly description: string | undefined;
	/** What the server says of itself: the name of its board. */
	readonly board: string;
}

/** Indexes that are kept: clients with different access have different ones. */
const MAX_INDEXES = 16;

/** Characters of a description that are searched. */
const MAX_SEARCHED_CHARACTERS = 1_000;

/** Tools that are indexed at a time, before other work of the gateway gets its turn. */
const CHUNK = 100;

const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/u;
const CAMEL_CASE = /(\p{Ll}|\p{N})(\p{Lu})/gu;
/** Scripts that put no spaces between words. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** By the list of tools, which is another one when something in it has changed. */
const indexes = new LRUCache<object, Promise<MiniSearch<Entry>>>({ max: MAX_INDEXES });

/** Searches names, titles and descriptions of a catalog's tools. The best hits come first. */
export async function searchTools(catalog: Catalog, { query, server }: ToolQuery): Promise<ToolHit[]> {
	const index = await indexOf(catalog);
	const filter = (hit: SearchResult): boolean => server === undefined || hit.server === server;
	return index.search(query, { filter }).map((hit) => ({ name: hit.name, server: hit.server }));
}

function indexOf(catalog: Catalog): Promise<MiniSearch<Entry>> {
	const { allTools } = catalog;
	let index = indexes.get(allTools);
	if (index === undefined) {
		index = makeIndex(catalog);
		indexes.set(allTools, index);
	}
	return index;
}

async function makeIndex(catalog: Catalog): Promise<MiniSearch<Entry>> {
	const index = new MiniSearch<Entry>({
		idField: "name",
		fields: ["name", "title", "description", "board"],
		storeFields: ["name", "server"],
		tokenize: words,
		searchOptions: { boost: { name: 3, title: 2 }, prefix: true, fuzzy: 0.2 },
	});
	await index.addAllAsync(entriesOf(catalog), { chunkSize: CHUNK });
	return index;
}

function entriesOf(catalog: Catalog): Entry[] {
	return catalog.allTools.flatMap(({ name, title, description }) => {
		const { alias, board } = catalog.findTool(name)?.server ?? {};
		return alias === undefined || board === undefined
			? []
			: [
					{
						name,
						server: alias,
						title,
						description: description?.slice(0, MAX_SEARCHED_CHARACTERS),
						board: board.name,
					},
				];
	});
}

/** The words of a text: names are taken apart, and so is Chinese or Japanese text. */
function words(text: string): string[] {
	return text
		.replace(CAMEL_CASE, "$1 $2")
		.split(SEPARATORS)
		.flatMap((word) => (WITHOUT_SPACES.test(word) ? segments(word) : [word]));
}

function segments(text: string): string[] {
	return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}
