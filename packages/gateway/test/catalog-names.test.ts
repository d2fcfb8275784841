import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { portableNames } from "../src/catalog/shared-list.js";

const oneOf = (own: string[], alias?: string): string[] => [...portableNames(own, alias).keys()];

/** Names as devices may have them, close to each other so that they would collide. */
const ownNames = fc.uniqueArray(
	fc.oneof(
		fc.string({ unit: fc.constantFrom("a", "b", ".", "_", "-"), minLength: 1, maxLength: 4 }),
		fc.string({ unit: fc.constantFrom("a", ".", "_"), minLength: 60, maxLength: 128 }),
		fc.string({ minLength: 1 }),
	),
	{ maxLength: 40 },
);
const alias = fc.constantFrom("", "lamp", "kitchen-lamp", "a".repeat(24));

describe("the names of tools that every client accepts", () => {
	it("keep a name that another tool's name would become", () => {
		const [own, other] = oneOf(["a_b", "a.b"]);
		assert.equal(own, "a_b");
		assert.match(other as string, /^a_b_[0-9a-f]{8}$/);
	});

	it("do not depend on the order in which a device lists its tools", () => {
		fc.assert(
			fc.property(ownNames, alias, (own, alias) => {
				const byName = (names: Map<string, string>): [string, string][] => [...names].sort();
				assert.deepEqual(byName(portableNames([...own].reverse(), alias)), byName(portableNames(own, alias)));
			}),
		);
	});
});
