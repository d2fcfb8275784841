import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ListName, validList } from "../src/core/offers.js";

type Members = Readonly<Record<string, unknown>>;

/** The least that an item of each list needs. */
const LEAST: Readonly<Record<ListName, Members>> = {
	tools: { name: "t", inputSchema: { type: "object" } },
	resources: { uri: "a://b", name: "b" },
	resourceTemplates: { uriTemplate: "a://{b}", name: "b" },
	prompts: { name: "p" },
};

/** Every optional member of a list's items. */
const OPTIONAL: Readonly<Record<ListName, readonly string[]>> = {
	tools: ["title", "description", "outputSchema", "annotations", "icons", "_meta", "execution"],
	resources: ["title", "description", "mimeType", "annotations", "icons", "_meta", "size"],
	resourceTemplates: ["title", "description", "mimeType", "annotations", "icons", "_meta"],
	prompts: ["title", "description", "arguments", "icons", "_meta"],
};

/** An item with the same value for each of its optional members. */
const withAll = (list: ListName, value: unknown): Members => ({
	...LEAST[list],
	...Object.fromEntries(OPTIONAL[list].map((name) => [name, value])),
});

describe("an item of a server's list", () => {
	for (const list of Object.keys(LEAST) as ListName[]) {
		const item = LEAST[list];
		const [key = ""] = Object.keys(item);

		it(`of ${list} has the members that MCP defines, and no other`, () => {
			const described = { ...item, title: "T", description: "D", icons: [{ src: "a://icon" }], _meta: { "a/b": 1 } };
			const { items, problems } = validList(list, [{ ...described, unknown: 1 }]);
			assert.deepEqual(items, [described]);
			assert.deepEqual(problems, []);
		});

		it(`of ${list} is listed without members that are null`, () => {
			assert.deepEqual(validList(list, [withAll(list, null)]), { items: [item], problems: [] });
		});

		it(`of ${list} is listed without invalid members, which are named`, () => {
			const { items, problems } = validList(list, [withAll(list, 5)]);
			assert.equal((items[0] as unknown as Members | undefined)?.[key], item[key]);
			assert.ok(problems.some((problem) => problem.includes("description is invalid and was left out")));
		});

		it(`of ${list} is skipped without its key, and the others are listed`, () => {
			for (const wrong of [
				{ ...item, [key]: undefined },
				{ ...item, [key]: "" },
				{ ...item, [key]: 5 },
				null,
				"text",
			]) {
				const { items, problems } = validList(list, [wrong, item]);
				assert.deepEqual(items, [item]);
				assert.equal(problems.length, 1);
				assert.match(problems[0] as string, /skipped: (its .+ is (missing|invalid)|not an object)/);
			}
		});

		it(`of ${list} is listed once if it comes twice`, () => {
			const { items, problems } = validList(list, [item, item]);
			assert.deepEqual(items, [item]);
			assert.deepEqual(problems, [`${JSON.stringify(item[key])} skipped: the ${key} comes twice`]);
		});
	}

	it("takes an object if it is a tool without a schema, or with one that is none", () => {
		for (const inputSchema of [undefined, null, "object", {}, { type: null, properties: null, required: null }]) {
			assert.deepEqual(validList("tools", [{ name: "t", inputSchema }]).items, [LEAST.tools]);
		}
	});

	it("keeps the valid hints of a tool beside invalid ones", () => {
		const annotations = { audience: ["user"], readOnlyHint: "yes", destructiveHint: true, title: null };
		const { items } = validList("tools", [{ ...LEAST.tools, annotations }]);
		assert.deepEqual(items[0]?.annotations, { audience: ["user"], destructiveHint: true });
	});

	it("lists a tool without an execution that is invalid", () => {
		for (const taskSupport of [{ toString: 1 }, ["required"], "other"]) {
			assert.deepEqual(validList("tools", [{ ...LEAST.tools, execution: { taskSupport } }]).items, [LEAST.tools]);
		}
	});

	it("keeps null where it is a value of a schema", () => {
		const inputSchema = {
			type: "object",
			properties: { x: { enum: ["a", null], default: null, const: null, title: null }, default: { type: null } },
		};
		const { items } = validList("tools", [{ name: "t", inputSchema }]);
		assert.deepEqual(items[0]?.inputSchema.properties, {
			x: { enum: ["a", null], default: null, const: null },
			default: {},
		});
	});

	it("is listed without an outputSchema that clients cannot compile, which is named", () => {
		const { items, problems } = validList("tools", [{ ...LEAST.tools, outputSchema: { required: true } }]);
		assert.deepEqual(items, [LEAST.tools]);
		assert.deepEqual(problems, [
			'"t": its outputSchema cannot be compiled and was left out: #/required has the value true',
		]);
	});
});
