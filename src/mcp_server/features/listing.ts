import { utf8Length } from "../../text/utf8.js";
import { ErrorCode, type LongResult, quotable, RpcError, resultOverhead } from "../json-rpc.js";
import type { Params } from "../params.js";
import type { ToolCall } from "../tool-call.js";
import { readCursor } from "./read-param.js";

/** What is listed: its object in the list, serialised once, so that XS can keep it in flash. */
export interface Listed {
	/** What tells it from others in the same list: a name, or a URI. Also the cursor of a page that begins with it. */
	readonly key: string;
	readonly entry: string;
	/** Size of the entry in bytes as UTF-8. */
	readonly entryBytes: number;
}

/** Makes an entry for a list. Members that are undefined are left out. */
export function listed(key: string, members: object): Listed {
	const entry = JSON.stringify(members);
	return { key, entry, entryBytes: utf8Length(entry) };
}

/**
 * A page of a list: as many items as fit, at least one.
 *
 * @param member the member of the result that holds the list, such as "resources"
 * @throws RpcError invalid params, if no item has the cursor's key
 */
export function page(member: string, items: readonly Listed[], params: Params, call: ToolCall): LongResult {
	const first = findCursor(items, readCursor(params));
	const before = `{"${member}":[`;
	const budget = call.session.pageBytes - resultOverhead(call.id) - before.length;
	let last = first;
	let bytes = 0;
	while (last < items.length) {
		const item = items[last] as Listed;
		// The comma before the item, and the end of a page that another one follows.
		const more = item.entryBytes + (last > first ? 1 : 0);
		if (last > first && bytes + more + endOf(items[last + 1]).bytes > budget) {
			break;
		}
		bytes += more;
		last += 1;
	}
	const end = endOf(items[last]);
	const entries = items.slice(first, last).map(({ entry }) => entry);
	return { before, items: entries, after: end.text, bytes: before.length + bytes + end.bytes };
}

function findCursor(items: readonly Listed[], cursor: string): number {
	const at = cursor === "" ? 0 : items.findIndex(({ key }) => key === cursor);
	if (at < 0) {
		throw new RpcError(
			ErrorCode.invalidParams,
			`cursor: ${JSON.stringify(quotable(cursor))} is not one that this list gave`,
		);
	}
	return at;
}

/** What stands after the last item of a page. */
function endOf(next: Listed | undefined): { readonly text: string; readonly bytes: number } {
	const text = next === undefined ? "]}" : `],"nextCursor":${JSON.stringify(next.key)}}`;
	return { text, bytes: utf8Length(text) };
}
