import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeArrowFunctions } from "../../../toolchain/release/arrow-functions.js";

describe("functions of a release build", () => {
	it("become arrow functions, above whatever calls them", () => {
		const source = `import { a } from "a";\nconst x = one(2);\nexport async function one<T>(value: T = a): Promise<T> {\n\treturn value;\n}\nx;\n`;
		assert.equal(
			makeArrowFunctions(source),
			`export const one = async (value: T = a) => {\n\treturn value;\n};\nimport { a } from "a";\nconst x = one(2);\n\nx;\n`,
		);
	});

	it("stay as they are if an arrow function would be something else", () => {
		for (const source of [
			"function* each() {}",
			"export default function one() {}",
			"function self(this: object) { return this; }",
			"function all() { return arguments.length; }",
			"const one = 1;",
		]) {
			assert.equal(makeArrowFunctions(source), source);
		}
	});
});
