import { utf8Length } from "../core/text/utf8.js";
import { invalidParams, type LongResult } from "./json-rpc.js";

/** An item of a list. */
export interface Listed {
	/** Its unique key in the list: a name or URI. Also the cursor of a page that begins with it. */
	readonly key: string;
	/** Its entry as JSON, in UTF-8, made once so that XS can keep it in flash. */
	readonly entry: ArrayBuffer;
}

/** Makes a list entry. Undefined members are omitted. */
export const listed = (key: string, members: object): Listed => ({
	key,
	entry: ArrayBuffer.fromString(JSON.stringify(members)),
});

const END = "]}";

const endBefore = (next: Listed | undefined): string =>
	next === undefined ? END : `],"nextCursor":${JSON.stringify(next.key)}}`;

/** A paginated list. */
export class PagedList {
	private readonly items: readonly Listed[];
	private readonly before: string;
	/** All items in one page: most lists fit. */
	private readonly whole: LongResult;

	/** @param member the member of the result that holds the list, such as "tools" */
	constructor(member: string, items: readonly Listed[]) {
		this.items = items;
		this.before = `{"${member}":[`;
		this.whole = this.pageOf(0, items.length);
	}

	/**
	 * One page, as the `result` of a request: as many items as fit, but at least one.
	 *
	 * @param cursor the key of the page's first item; "" for the beginning
	 * @param budget the largest page as JSON, in bytes
	 * @throws RpcError invalid params, for an unknown cursor
	 */
	page(cursor: string, budget: number): LongResult {
		const { items, before, whole } = this;
		const first = cursor === "" ? 0 : items.findIndex(({ key }) => key === cursor);
		if (first < 0) {
			throw invalidParams("unknown cursor");
		}
		const rest = first === 0 ? whole : this.pageOf(first, items.length);
		if (rest.bytes <= budget) {
			return rest;
		}
		let last = first;
		let bytes = before.length;
		let next = items[first];
		while (next !== undefined) {
			bytes += next.entry.byteLength + 1;
			last += 1;
			next = items[last];
			if (bytes + (next?.entry.byteLength ?? 0) + utf8Length(endBefore(items[last + 1])) > budget) {
				break;
			}
		}
		return this.pageOf(first, last);
	}

	/** @param last index after the page's last item */
	private pageOf(first: number, last: number): LongResult {
		const { before } = this;
		const items = this.items.slice(first, last).map(({ entry }) => entry);
		const after = endBefore(this.items[last]);
		const itemBytes = items.reduce((sum, { byteLength }) => sum + byteLength, 0);
		const commas = Math.max(items.length - 1, 0);
		return { before, items, after, bytes: before.length + itemBytes + commas + utf8Length(after) };
	}
}
