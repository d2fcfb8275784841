import { fitsUtf8 } from "../core/text/utf8.js";
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
	/** All items in one page: most lists fit. */
	private readonly whole: LongResult;

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
		const { items, whole } = this;
		const { before, items: entries } = whole;
		const first = cursor === "" ? 0 : items.findIndex(({ key }) => key === cursor);
		if (first < 0) {
			throw invalidParams("unknown cursor");
		}
		if (first === 0 && (whole.bytes <= budget || items.length < 2)) {
			return whole;
		}
		const room = budget - END.length;
		let last = first;
		let bytes = before.length - 1;
		for (; last < entries.length; last += 1) {
			const more = bytes + (entries[last] as ArrayBuffer).byteLength + 1;
			if (more > room && last > first) {
				break;
			}
			bytes = more;
		}
		let after = endBefore(items[last]);
		// A cursor takes room, too.
		while (last > first + 1 && !fitsUtf8(after, budget - bytes)) {
			last -= 1;
			bytes -= (entries[last] as ArrayBuffer).byteLength + 1;
			after = endBefore(items[last]);
		}
		bytes += ArrayBuffer.fromString(after).byteLength;
		return { before, items: entries.slice(first, last), after, bytes };
	}
}
