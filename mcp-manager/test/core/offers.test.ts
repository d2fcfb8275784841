import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ListName, validItem } from "../../src/core/offers.js";

/** The least that an item of each list needs. */
const LEAST: Readonly<Record<ListName, Readonly<Record<string, unknown>>>> = {
	tools: { name: "t", inputSchema: { type: "object" } },
	resources: { uri: "a://b", name: "b" },
	resourceTemplates: { uriTemplate: "a://{b}", name: "b" },
	prompts: { name: "p" },
};

describe("an item of a server's list", () => {
	for (const [list, item] of Object.entries(LEAST) as [ListName, Readonly<Record<string, unknown>>][]) {
		it(`of ${list} has the members that MCP defines, and no other`, () => {
			const described = { ...item, title: "T", description: "D", icons: [{ src: "a://icon" }], _meta: { "a/b": 1 } };
			assert.deepEqual(validItem(list, item), item);
			assert.deepEqual(validItem(list, { ...described, unknown: 1 }), described);
		});

		it(`of ${list} is not valid without its key, or with a member of another type`, () => {
			const [key = ""] = Object.keys(item);
			for (const wrong of [{ [key]: undefined }, { [key]: "" }, { [key]: 5 }, { description: 5 }]) {
				assert.equal(validItem(list, { ...item, ...wrong }), undefined, JSON.stringify(wrong));
			}
			assert.equal(validItem(list, "text"), undefined);
		});
	}

	it("that is a tool takes an object, also if its schema does not say so", () => {
		assert.deepEqual(validItem("tools", { name: "t", inputSchema: {} }), LEAST.tools);
		for (const inputSchema of [undefined, "object", { type: "string" }]) {
			assert.equal(validItem("tools", { name: "t", inputSchema }), undefined);
		}
	});
});
