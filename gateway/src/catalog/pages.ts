import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Items on a page of a list. Clients exist that read at most 64 pages: enough for 5,000 devices. */
const PAGE_SIZE = 500;

/** A member of a list request's `_meta`: the bytes that the whole answer may have. For clients with little room. */
export const MAX_PAGE_BYTES = "xs-mcp/maxPageBytes";

/** Bytes of an answer besides its items: the id, the cursor, the envelope. */
const OTHER_BYTES = 512;

/** What a list request asks for. */
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
 * A page of a list. The cursor is the page's first item: it stays valid until that item is removed, whatever else changes.
 * An item that is larger than a page may be is left out.
 *
 * @throws ProtocolError invalid params, if the cursor is not valid
 */
export function pageOf<Item>(
	list: readonly Item[],
	nameOf: (item: Item) => string,
	{ cursor, _meta: meta }: PageRequest = {},
): Page<Item> {
	const start = isFirstPage(cursor) ? 0 : list.findIndex((item) => nameOf(item) === cursor);
	if (start < 0) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: not valid, or no longer: begin the list again");
	}
	const { [MAX_PAGE_BYTES]: maxBytes } = meta ?? {};
	const { items, next } =
		typeof maxBytes === "number" ? filled(list, start, maxBytes - OTHER_BYTES) : counted(list, start);
	return { items, ...(next && { nextCursor: nameOf(next) }) };
}

function counted<Item>(list: readonly Item[], start: number): { items: Item[]; next?: Item | undefined } {
	return { items: list.slice(start, start + PAGE_SIZE), next: list[start + PAGE_SIZE] };
}

function filled<Item>(list: readonly Item[], start: number, maxBytes: number): { items: Item[]; next?: Item } {
	const items: Item[] = [];
	let bytes = 0;
	for (const item of list.slice(start, start + PAGE_SIZE)) {
		const size = Buffer.byteLength(JSON.stringify(item)) + 1;
		if (bytes + size <= maxBytes) {
			items.push(item);
			bytes += size;
		} else if (size <= maxBytes) {
			return { items, next: item };
		}
	}
	const next = list[start + PAGE_SIZE];
	return { items, ...(next && { next }) };
}
