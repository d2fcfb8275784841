import { isObject } from "xs-mcp-firmware/core/text/json";
import { jsonIn } from "xs-mcp-manager/core";
import { GatewayError } from "../gateway-error.js";

/**
 * Reads `key=value` arguments by the types in a tool's schema: numbers, booleans, JSON, text.
 *
 * @throws GatewayError that names the argument
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
			throw new GatewayError(
				"usage",
				`expected an argument like key=value, got ${JSON.stringify(pair)}; quote values with spaces`,
			);
		}
		const name = pair.slice(0, at);
		if (!Object.hasOwn(properties, name) && inputSchema.additionalProperties !== true) {
			const known = Object.keys(properties);
			const list = known.length === 0 ? "the tool takes no arguments" : `the tool takes ${known.join(", ")}`;
			throw new GatewayError("usage", `${name}: unknown argument; ${list}`);
		}
		args[name] = parseValue(name, properties[name], pair.slice(at + 1));
	}
	const required = Array.isArray(inputSchema.required) ? (inputSchema.required as string[]) : [];
	const missing = required.filter((name) => !Object.hasOwn(args, name));
	if (missing.length > 0) {
		throw new GatewayError("usage", `missing arguments: ${missing.join(", ")}`);
	}
	return args;
}

function parseValue(name: string, schema: unknown, text: string): unknown {
	const type = isObject(schema) ? schema.type : undefined;
	if (type === "string") {
		return text;
	}
	const kind = KINDS.get(type);
	const isNumber = (type === "integer" || type === "number") && text.trim() !== "";
	const value = isNumber ? Number(text) : jsonIn(text);
	if (kind === undefined) {
		// Without a simple type: JSON if it parses, else text.
		return value === undefined ? text : value;
	}
	const [expected, isOne] = kind;
	if (!isOne(value)) {
		throw new GatewayError("usage", `${name}: expected ${expected}, got ${JSON.stringify(text)}`);
	}
	return value;
}

/** Name and check of each type in a schema. */
const KINDS = new Map<unknown, readonly [expected: string, isOne: (value: unknown) => boolean]>([
	["integer", ["a whole number", Number.isInteger]],
	["number", ["a number", Number.isFinite]],
	["boolean", ["true or false", (value) => typeof value === "boolean"]],
	["object", ["a JSON object", isObject]],
	["array", ["a JSON array", Array.isArray]],
]);
