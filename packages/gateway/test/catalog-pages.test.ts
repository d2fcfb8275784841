import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pageOf } from "../src/catalog/pages.js";

function readAll<Item>(list: readonly Item[], nameOf: (item: Item) => string): Item[][] {
	const pages: Item[][] = [];
	for (let cursor: string | undefined = ""; cursor !== undefined; ) {
		const { items, nextCursor }: { items: Item[]; nextCursor?: string } = pageOf(list, nameOf, { cursor });
		pages.push(items);
		cursor = nextCursor;
	}
	return pages;
}

describe("the pages of a list", () => {
	for (const length of [0, 1, 500, 501, 32_001, 100_000]) {
		it(`have ${length} items, each once, in fewer pages than the SDK's clients read`, () => {
			const list = Array.from({ length }, (_, index) => ({ name: `tool_${index}` }));
			const pages = readAll(list, ({ name }) => name);
			assert.ok(pages.length <= 64, `${pages.length} pages`);
			assert.deepEqual(pages.flat(), list);
		});
	}
});
