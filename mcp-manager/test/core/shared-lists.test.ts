import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_OFFERS } from "../../src/core/offers.js";
import { SharedLists } from "../../src/core/shared-lists.js";

const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } });

describe("lists of servers", () => {
	it("are the same object if they are equal", () => {
		const lists = new SharedLists();
		const first = lists.share([tool("a"), tool("b")]);
		assert.equal(lists.share([tool("a"), tool("b")]), first);
		assert.notEqual(lists.share([tool("b"), tool("a")]), first);
	});

	it("are shared list by list", () => {
		const lists = new SharedLists();
		const one = lists.shareAll({ ...NO_OFFERS, tools: [tool("a")] });
		const other = lists.shareAll({ ...NO_OFFERS, tools: [tool("a")], prompts: [{ name: "p" }] });
		assert.equal(other.tools, one.tools);
		assert.notEqual(other.prompts, one.prompts);
	});
});
