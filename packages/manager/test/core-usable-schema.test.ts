import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AjvJsonSchemaValidator as AjvOfV2 } from "@modelcontextprotocol/client/validators/ajv";
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import fc from "fast-check";
import { usableInputSchema, usableOutputSchema } from "../src/core/usable-schema.js";

const object = (properties: object, more = {}) => ({ type: "object", properties, ...more });

/** Compiles a schema as the SDKs' clients do. */
function compile(schema: object): void {
	new AjvJsonSchemaValidator().getValidator(schema as never);
	new AjvOfV2().getValidator(schema as never);
}

/** Schemas that one of the SDKs' clients cannot compile, or list. */
const BROKEN: Readonly<Record<string, object>> = {
	"a reference to nothing": object({ s: { $ref: "#/$defs/Screen" } }),
	"a reference to another document": object({ s: { $ref: "https://example.com/screen.json" } }),
	"a reference to an unknown anchor": object({ s: { $ref: "#screen" } }),
	"references in a circle": object({ a: { $ref: "#/properties/b" }, b: { $ref: "#/properties/a" } }),
	"an unknown type": object({ p: { type: "any" } }),
	"a type with another case": object({ p: { type: "String" } }),
	"a list with an unknown type": object({ p: { type: ["string", "undefined"] } }),
	"a pattern that is none": object({ p: { type: "string", pattern: "([a-z" } }),
	"a pattern of another dialect": object({ p: { type: "string", pattern: "(?i)abc" } }),
	"an invalid pattern of properties": object({}, { patternProperties: { "(": {} } }),
	"required as a boolean": object({ p: { type: "string", required: true } }),
	"exclusiveMinimum of draft-04": object({ x: { type: "number", exclusiveMinimum: true } }),
	"the dialect draft-04": { $schema: "http://json-schema.org/draft-04/schema#", ...object({}) },
	"an unknown dialect": { $schema: "https://example.com/schema", ...object({}) },
	"an empty enum": object({ p: { enum: [] } }),
	"an enum that is no list": object({ p: { enum: "a" } }),
	"a limit as text": object({ p: { type: "integer", maximum: "100" } }),
	"nullable without a type": object({ p: { nullable: true } }),
	"id of draft-04": object({ p: { id: "p", type: "string" } }),
	"a list of items in 2020-12": object({ p: { type: "array", items: [{ type: "string" }] } }),
	"properties that are no object": { type: "object", properties: [] },
	"additionalProperties as text": object({}, { additionalProperties: "no" }),
	"anyOf that is no list": object({ p: { anyOf: { type: "string" } } }),
	"an asynchronous schema": { $async: true, ...object({}) },
};

describe("the schema of a tool's result", () => {
	for (const [what, schema] of Object.entries(BROKEN)) {
		it(`is left out if it has ${what}`, () => {
			const { schema: usable, problem } = usableOutputSchema(schema);
			assert.equal(usable, undefined);
			assert.equal(typeof problem, "string");
		});
	}

	for (const [what, schema] of Object.entries({
		definitions: object({ a: { $ref: "#/$defs/a~1b" } }, { $defs: { "a/b": { type: "string" } } }),
		recursion: object({ children: { type: "array", items: { $ref: "#" } } }),
		"draft-07": { $schema: "http://json-schema.org/draft-07/schema#", ...object({ a: { items: [{}, {}] } }) },
		"every keyword of 2020-12": object(
			{ a: { type: ["string", "null"], format: "date", pattern: "^a", maxLength: 3 }, id: { const: null } },
			{
				required: ["a"],
				additionalProperties: false,
				allOf: [{ not: { required: ["b"] } }],
				unevaluatedProperties: false,
			},
		),
	})) {
		it(`stays as it is with ${what}`, () => {
			assert.deepEqual(usableOutputSchema(schema).schema, schema);
			compile(schema);
		});
	}

	it("is that of an object without an id, and without keywords that are null", () => {
		const schema = { $id: "https://example.com/a", properties: { a: { type: "string", title: null }, b: true } };
		const usable = { type: "object", properties: { a: { type: "string" }, b: {} } };
		assert.deepEqual(usableOutputSchema(schema).schema, usable);
		assert.deepEqual(usableOutputSchema(null), {});
	});

	it("can be listed and compiled by the SDKs' clients, whatever a server sends", () => {
		const keywords = [
			"type required enum pattern minimum exclusiveMaximum items properties additionalProperties anyOf allOf not",
			"$ref $defs $id $anchor id format nullable patternProperties dependencies dependentRequired prefixItems",
			"uniqueItems $schema $async const default if contains propertyNames $dynamicRef unevaluatedProperties",
		].flatMap((line) => line.split(" "));
		const words = "string object array any ([a ^a$ # #/$defs/a #a a true http://json-schema.org/draft-07/schema#";
		const { value } = fc.letrec((tie) => ({
			value: fc.oneof(
				{ maxDepth: 4 },
				fc.constantFrom(...words.split(" "), true, false, null, 0, -1, 1.5),
				fc.array(tie("value"), { maxLength: 2 }),
				tie("schema"),
			),
			schema: fc.dictionary(fc.constantFrom(...keywords, "a"), tie("value"), { maxKeys: 4, noNullPrototype: true }),
		}));
		const run = fc.property(
			fc.dictionary(fc.constantFrom(...keywords), value as never, { maxKeys: 5, noNullPrototype: true }),
			(schema) => {
				const { schema: outputSchema } = usableOutputSchema(schema);
				const tool = { name: "t", inputSchema: usableInputSchema(schema), ...(outputSchema && { outputSchema }) };
				const { success } = ToolSchema.safeParse(tool);
				assert.ok(success || (outputSchema !== undefined && outputSchema.type !== "object"), JSON.stringify(tool));
				if (outputSchema !== undefined) {
					compile(outputSchema);
				}
			},
		);
		fc.assert(run, { numRuns: 1_000 });
	});
});
