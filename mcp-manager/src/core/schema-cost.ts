import { isObject } from "../firmware.js";
import type { Schema } from "./schema-validator.js";

/**
 * Keywords that visit each part of a value once, so that checking takes linear time. Any other keyword makes a schema
 * expensive.
 */
const CHEAP_KEYWORDS: ReadonlySet<string> = new Set(
	(
		"$schema $comment title description default examples deprecated readOnly writeOnly " +
		"type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf " +
		"minLength maxLength minItems maxItems minProperties maxProperties format required " +
		"properties additionalProperties items"
	).split(" "),
);

/** Schemas and the values that they name, in a schema that is cheap. */
const MAX_PARTS = 500;

/** Levels of schemas in a schema that is cheap. */
const MAX_DEPTH = 16;

/** Whether a value can be checked against a schema in time that is bounded by their sizes. */
export function isCheap(schema: Schema): boolean {
	const budget = { parts: MAX_PARTS };
	return isCheapPart(schema, budget, MAX_DEPTH);
}

function isCheapPart(schema: unknown, budget: { parts: number }, depth: number): boolean {
	budget.parts -= 1;
	if (typeof schema === "boolean") {
		return true;
	}
	if (!isObject(schema) || budget.parts < 0 || depth === 0) {
		return false;
	}
	for (const list of [schema.enum, schema.required]) {
		budget.parts -= Array.isArray(list) ? list.length : 0;
	}
	const { properties = {}, items, additionalProperties } = schema;
	return (
		Object.keys(schema).every((keyword) => CHEAP_KEYWORDS.has(keyword)) &&
		isObject(properties) &&
		[...Object.values(properties), items, additionalProperties]
			.filter((part) => part !== undefined)
			.every((part) => isCheapPart(part, budget, depth - 1))
	);
}
