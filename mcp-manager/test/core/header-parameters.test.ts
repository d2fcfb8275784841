import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headerProblem } from "../../src/core/header-parameters.js";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const object = (properties: object) => ({ type: "object", properties });

describe("the headers that a tool wants for its arguments", () => {
	it("are fine if each property names its own", () => {
		const nested = object({ city: header("City"), unit: header("Unit", "boolean") });
		assert.equal(
			headerProblem(object({ region: header("Region"), days: header("Days", "integer"), nested })),
			undefined,
		);
		assert.equal(headerProblem(object({ plain: { type: "array", default: [header("X")] } })), undefined);
		assert.equal(headerProblem(undefined), undefined);
	});

	it("are named, with the property, if they cannot be used", () => {
		for (const [schema, problem] of [
			[object({ a: header(5) }), "a: x-mcp-header is not a header's name"],
			[object({ a: header("") }), "a: x-mcp-header is not a header's name"],
			[object({ a: header("two words") }), "a: x-mcp-header is not a header's name"],
			[object({ a: header("A", "number") }), "a: x-mcp-header is only for string, integer and boolean"],
			[object({ a: header("A"), b: header("a") }), "b: x-mcp-header names a header twice"],
			[object({ a: { items: header("A") } }), "a.items: x-mcp-header is only for properties of the arguments"],
			[object({ a: { anyOf: [header("A")] } }), "a.anyOf: x-mcp-header is only for properties of the arguments"],
			[
				object({ a: { items: object({ b: header("B") }) } }),
				"a.items.b: x-mcp-header is only for properties of the arguments",
			],
		] as const) {
			assert.equal(headerProblem(schema), problem);
		}
	});
});
