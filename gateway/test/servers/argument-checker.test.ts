import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ArgumentChecker } from "../../src/servers/argument-checker.js";

const warnings: string[] = [];
const check = (inputSchema: Record<string, unknown>, args: object): string | undefined =>
	new ArgumentChecker((message) => warnings.push(message)).check({ name: "t", inputSchema }, args);

const VOLUME = {
	type: "object",
	properties: { volume: { type: "integer", maximum: 100 }, mode: { enum: ["dark", "light"] } },
	required: ["volume"],
	additionalProperties: false,
};

describe("the arguments of a call", () => {
	it("pass when they fit the schema", () => {
		assert.equal(check(VOLUME, { volume: 100, mode: "dark" }), undefined);
		assert.equal(check({}, { anything: 1 }), undefined);
	});

	it("are refused with the name of the one that does not fit", () => {
		assert.equal(check(VOLUME, { volume: 101 }), "volume: must be <= 100");
		assert.equal(check(VOLUME, { volume: "1" }), "volume: must be integer");
		assert.equal(check(VOLUME, {}), "volume: is missing");
		assert.equal(check(VOLUME, { volume: 1, colour: 2 }), "colour: is unknown");
		assert.match(check(VOLUME, { volume: 1, mode: "x" }) ?? "", /^mode: must be .*: "dark", "light"$/);
		const nested = { properties: { list: { items: { required: ["x"] } } } };
		assert.equal(check(nested, { list: [{ x: 1 }, {}] }), "list.1.x: is missing");
	});

	it("are checked by the dialect that the schema names: 2020-12 unless it is an older one", () => {
		assert.match(check({ properties: { a: { prefixItems: [{ type: "string" }] } } }, { a: [1] }) ?? "", /^a\.0: /);
		const draft07 = {
			$schema: "http://json-schema.org/draft-07/schema#",
			properties: { a: { items: [{ type: "string" }] } },
		};
		assert.match(check(draft07, { a: [1] }) ?? "", /^a\.0: /);
	});

	it("go unchecked, with one warning, where the schema cannot be used", () => {
		for (const schema of [{ type: 5 }, { $ref: "http://elsewhere.example/" }, { $async: true }, { pattern: "(?=a)" }]) {
			warnings.length = 0;
			const checker = new ArgumentChecker((message) => warnings.push(message));
			assert.equal(checker.check({ name: "t", inputSchema: schema }, { a: 1 }), undefined);
			assert.equal(checker.check({ name: "t", inputSchema: { ...schema } }, { a: 1 }), undefined);
			assert.equal(warnings.length, 1, warnings.join("\n"));
		}
	});

	it("may come for two devices whose schemas have the same $id", () => {
		const checker = new ArgumentChecker((message) => assert.fail(message));
		const schema = (type: string) => ({ $id: "volume", properties: { volume: { type } } });
		assert.equal(checker.check({ name: "t", inputSchema: schema("integer") }, { volume: 1 }), undefined);
		assert.match(checker.check({ name: "t", inputSchema: schema("string") }, { volume: 1 }) ?? "", /must be string/);
	});

	it("are matched against patterns, each its own, in a time that an evil one cannot stretch", () => {
		const patterns = { properties: { a: { pattern: "^x+$" }, b: { pattern: "^(a+)+$" } } };
		assert.equal(check(patterns, { a: "xxx", b: "aaa" }), undefined);
		assert.match(check(patterns, { a: "y" }) ?? "", /^a: must match pattern/);
		assert.match(check(patterns, { b: `${"a".repeat(5_000)}!` }) ?? "", /^b: must match pattern/);
	});
});
