import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { NO_OFFERS } from "../../src/core/offers.js";
import { SharedLists } from "../../src/core/shared-lists.js";

const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } });

/** Collects garbage now. */
function collect(): void {
	setFlagsFromString("--expose-gc");
	(runInNewContext("gc") as () => void)();
}

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

	it("stay shared when an equal one that no server had any longer is freed after they came", async () => {
		const lists = new SharedLists();
		lists.share([tool("a")]);
		await turn();
		collect();
		const later = lists.share([tool("a")]);
		await turn();
		await turn();
		assert.equal(lists.share([tool("a")]), later);
	});
});
