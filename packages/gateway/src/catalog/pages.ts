import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Items on a page of a list, or more if there were too many pages then: the SDK's clients give up after 64. */
const PAGE_SIZE = 500;
const MAX_PAGES = 50;

/** Start of each page of a list, by its cursor. Lists are never changed, so these places stay valid. */
const starts = new WeakMap<readonly unknown[], Map<string, number>>();

/** A member of a list request's `_meta`: the bytes that the whole answer may have. For clients with little room. */
export const MAX_PAGE_BYTES = "xs-mcp/maxPageBytes";

/** Bytes of an answer without its items: the id, the cursor, the envelope. */
const OTHER_BYTES = 512;

/** The parameters of a list request. */
export interface PageRequest {
	readonly cursor?: string | undefined;
	readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface Page<Item> {
	readonly items: Item[];
	readonly nextCursor?: string;
}

export function isFirstPage(cursor: string | undefined): cursor is undefined | "" {
	return cursor === undefined || cursor === "";
}

/**
 * A page of a list. The cursor is the page's first item: it stays valid until that item is removed, whatever else
 * changes. An item larger than a page is omitted.
 *
 * @throws ProtocolError invalid params, if the cursor is not valid
 */
export function pageOf<Item>(
	list: readonly Item[],
	nameOf: (item: Item) => string,
	{ cursor, _meta: meta }: PageRequest = {},
): Page<Item> {
	const known = isFirstPage(cursor) ? 0 : starts.get(list)?.get(cursor);
	const start = known ?? list.findIndex((item) => nameOf(item) === cursor);
	if (start < 0) {
		throw new ProtocolError(
			ProtocolErrorCode.InvalidParams,
			"unknown cursor: the list has changed; start again from the first page",
		);
	}
	const { [MAX_PAGE_BYTES]: maxBytes } = meta ?? {};
	const room = typeof maxBytes === "number" ? maxBytes - OTHER_BYTES : Number.POSITIVE_INFINITY;
	const end = start + Math.max(PAGE_SIZE, Math.ceil(list.length / MAX_PAGES));
	const items: Item[] = [];
	let bytes = 0;
	for (const [index, item] of list.slice(start, end).entries()) {
		const size = room === Number.POSITIVE_INFINITY ? 0 : Buffer.byteLength(JSON.stringify(item)) + 1;
		if (bytes + size <= room) {
			items.push(item);
			bytes += size;
		} else if (size <= room) {
			return { items, ...nextPage(list, nameOf, start + index) };
		}
	}
	return { items, ...nextPage(list, nameOf, end) };
}

/** The cursor of the page that begins there; empty at the end of the list. */
function nextPage<Item>(list: readonly Item[], nameOf: (item: Item) => string, start: number): { nextCursor?: string } {
	const first = list[start];
	if (first === undefined) {
		return {};
	}
	const known = starts.get(list) ?? new Map<string, number>();
	starts.set(list, known.set(nameOf(first), start));
	return { nextCursor: nameOf(first) };
}
