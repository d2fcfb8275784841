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

const offsetsOf = (items: readonly Listed[]): readonly number[] => {
	const offsets = [0];
	for (const { entry } of items) {
		offsets.push((offsets.at(-1) as number) + entry.byteLength + 1);
	}
	return offsets;
};

/** A paginated list. */
export class PagedList {
	private readonly items: readonly Listed[];
	/** All items in one page: most lists fit. */
	private readonly whole: LongResult;
	/** Byte offsets of the entries in the full list, commas included, and of its end. Only for several pages. */
	private offsets: readonly number[] | undefined;
	/** Bytes that close a page before each item, cursor included, and the last page. Only for several pages. */
	private endBytes: readonly number[] | undefined;

	/** @param member the member of the result that holds the list, such as "tools" */
	constructor(member: string, items: readonly Listed[]) {
		const before = `{"${member}":[`;
		const entryBytes = items.reduce((sum, { entry }) => sum + entry.byteLength, 0);
		const commas = Math.max(items.length - 1, 0);
		this.items = items;
		this.whole = {
			before,
			items: items.map(({ entry }) => entry),
			after: END,
			bytes: before.length + entryBytes + commas + END.length,
		};
	}

	/**
	 * One page, as the `result` of a request: as many items as fit, but at least one.
	 *
	 * @param cursor the key of the page's first item; "" for the beginning
	 * @param budget the largest page as JSON, in bytes
	 * @throws RpcError invalid params, for an unknown cursor
	 */
	page(cursor: string, budget: number): LongResult {
		return cursor === "" && this.whole.bytes <= budget ? this.whole : this._page(cursor, budget);
	}

	private _page(cursor: string, budget: number): LongResult {
		this.offsets ??= offsetsOf(this.items);
		const offsets = this.offsets;
		const { before, items: entries } = this.whole;
		const total = entries.length;
		const first = cursor === "" ? 0 : this.items.findIndex(({ key }) => key === cursor);
		if (first < 0) {
			throw invalidParams("unknown cursor");
		}
		const start = offsets[first] as number;
		const room = start + budget - before.length + 1;
		let last = total;
		let endBytes = END.length;
		if ((offsets[total] as number) + endBytes > room) {
			this.endBytes ??= [...this.items, undefined].map((next) => utf8Length(endBefore(next)));
			const ends = this.endBytes;
			last = first + 1;
			// Not all items fit, so it ends before the last one.
			while ((offsets[last + 1] as number) + (ends[last + 1] as number) <= room) {
				last += 1;
			}
			endBytes = ends[last] as number;
		}
		const itemBytes = first < last ? (offsets[last] as number) - start - 1 : 0;
		return {
			before,
			items: last - first === total ? entries : entries.slice(first, last),
			after: endBefore(this.items[last]),
			bytes: before.length + itemBytes + endBytes,
		};
	}
}
