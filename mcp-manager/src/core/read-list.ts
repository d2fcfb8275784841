import { ServerError } from "./errors.js";
import { LISTS, type ListName } from "./offers.js";

/** Limits of a list. */
const MAX_PAGES = 1_000;
const MAX_ITEMS = 1_000;
const MAX_LIST_CHARACTERS = 4 * 1024 * 1024;

/** Characters of a cursor, for an error. */
const MAX_QUOTE = 100;

/**
 * Reads a whole list, page by page. Its items are not checked.
 *
 * Rejects with ServerError "invalid-result" when a page is not valid, the list does not end (a cursor comes twice, or more than 1,000 pages), or has
 * more than 1,000 items or 4 million characters.
 *
 * @param readPage gets the cursor of the page; that of the first is empty
 */
export async function readList(list: ListName, readPage: (cursor: string) => Promise<object>): Promise<unknown[]> {
	const fail = (problem: string) => new ServerError("invalid-result", `${LISTS[list].method}: ${problem}`);
	const items: unknown[] = [];
	const cursors = new Set<string>();
	let cursor = "";
	let characters = 0;
	while (cursors.size < MAX_PAGES) {
		if (cursors.has(cursor)) {
			throw fail(`the cursor ${JSON.stringify(cursor).slice(0, MAX_QUOTE)} comes twice`);
		}
		cursors.add(cursor);
		const { [list]: listed, nextCursor = null }: Readonly<Record<string, unknown>> = { ...(await readPage(cursor)) };
		if (!Array.isArray(listed)) {
			throw fail(`${list}: expected a list`);
		}
		items.push(...listed);
		characters += JSON.stringify(listed).length;
		if (items.length > MAX_ITEMS || characters > MAX_LIST_CHARACTERS) {
			throw fail(`list too large (${items.length} items, ${characters} characters)`);
		}
		if (nextCursor === null || nextCursor === "") {
			return items;
		}
		if (typeof nextCursor !== "string") {
			throw fail("nextCursor: expected a string");
		}
		cursor = nextCursor;
	}
	throw fail(`more than ${MAX_PAGES} pages`);
}
