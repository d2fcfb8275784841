import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isCheap } from "../../src/core/schema-cost.js";

const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, true]));

/** A schema of so many levels. */
const nested = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { items: nested(levels - 1) });

describe("a schema that is checked without another thread", () => {
	it("has only keywords that look at each part of a value once", () => {
		for (const [schema, expected] of [
			[{}, true],
			[{ type: "object", properties: { a: { type: "string", maxLength: 5 } }, additionalProperties: false }, true],
			[{ pattern: "a" }, false],
			[{ properties: { a: { uniqueItems: true } } }, false],
			[{ items: { anyOf: [] } }, false],
			[{ additionalProperties: { $ref: "#" } }, false],
			[{ properties: [] }, false],
			[{ items: 5 }, false],
			[{ items: true, additionalProperties: false }, true],
			[{ items: null }, false],
		] as const) {
			assert.equal(isCheap(schema), expected, JSON.stringify(schema));
		}
	});

	it("has 500 parts at most: schemas, values of an enum, required names", () => {
		const withLast = (first: object) => isCheap({ properties: { ...first, last: {} } });
		assert.deepEqual([withLast(properties(498)), withLast(properties(499))], [true, false]);
		// Beside the values: the whole, and both properties.
		for (const keyword of ["enum", "required"]) {
			assert.equal(withLast({ a: { [keyword]: Array(497).fill("x") } }), true);
			assert.equal(withLast({ a: { [keyword]: Array(498).fill("x") } }), false);
		}
	});

	it("has sixteen levels at most", () => {
		assert.equal(isCheap(nested(16)), true);
		assert.equal(isCheap(nested(17)), false);
	});
});
