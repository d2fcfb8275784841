import { isObject } from "../firmware.js";
import { UsageError } from "./exit.js";

/**
 * Reads `key=value` arguments by the types in a tool's schema: numbers, booleans, JSON, text.
 *
 * @throws UsageError that names the argument
 */
export function parseToolArguments(
	inputSchema: Readonly<Record<string, unknown>>,
	pairs: readonly string[],
): Record<string, unknown> {
	const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
	const args: Record<string, unknown> = {};
	for (const pair of pairs) {
		const at = pair.indexOf("=");
		if (at < 1) {
			throw new UsageError(
				`expected an argument like key=value, got ${JSON.stringify(pair)}; quote values with spaces`,
			);
		}
		const name = pair.slice(0, at);
		if (!Object.hasOwn(properties, name) && inputSchema.additionalProperties !== true) {
			const known = Object.keys(properties);
			const list = known.length === 0 ? "the tool takes no arguments" : `the tool takes ${known.join(", ")}`;
			throw new UsageError(`${name}: unknown argument; ${list}`);
		}
		args[name] = parseValue(name, properties[name], pair.slice(at + 1));
	}
	const required = Array.isArray(inputSchema.required) ? (inputSchema.required as string[]) : [];
	const missing = required.filter((name) => !Object.hasOwn(args, name));
	if (missing.length > 0) {
		throw new UsageError(`missing arguments: ${missing.join(", ")}`);
	}
	return args;
}

function parseValue(name: string, schema: unknown, text: string): unknown {
	const type = isObject(schema) ? schema.type : undefined;
	switch (type) {
		case "string":
			return text;
		case "integer":
		case "number":
			return parseNumber(name, type, text);
		case "boolean":
			if (text !== "true" && text !== "false") {
				throw new UsageError(`${name}: expected true or false, got ${JSON.stringify(text)}`);
			}
			return text === "true";
		case "object":
		case "array":
			return parseJson(name, type, text);
		default:
			// Without a simple type: JSON if it parses, else text.
			return jsonOr(text, text);
	}
}

function parseNumber(name: string, type: "integer" | "number", text: string): number {
	const number = text.trim() === "" ? Number.NaN : Number(text);
	if (type === "integer" ? !Number.isInteger(number) : !Number.isFinite(number)) {
		throw new UsageError(
			`${name}: expected ${type === "integer" ? "a whole number" : "a number"}, got ${JSON.stringify(text)}`,
		);
	}
	return number;
}

function parseJson(name: string, type: "object" | "array", text: string): unknown {
	const value = jsonOr(text, undefined);
	if (type === "array" ? !Array.isArray(value) : !isObject(value)) {
		throw new UsageError(`${name}: expected a JSON ${type}, got ${JSON.stringify(text)}`);
	}
	return value;
}

function jsonOr(text: string, otherwise: unknown): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return otherwise;
	}
}
