import { isObject } from "../firmware.js";

/** The member of a property's schema that requests the argument as an HTTP header, too: `Mcp-Param-NAME`. */
const HEADER = "x-mcp-header";

/** The characters of a header's name: RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * The error in a tool's headers (2026-07-28, "Custom Headers from Tool Parameters"): a client must not offer such a
 * tool. Undefined without one.
 */
export function headerProblem(inputSchema: unknown): string | undefined {
	const names = new Set<string>();
	const visit = (schema: unknown, path: readonly string[], isProperty: boolean): string | undefined => {
		if (!isObject(schema)) {
			return Array.isArray(schema) ? firstOf(schema, (each) => visit(each, path, false)) : undefined;
		}
		const problem = HEADER in schema ? nameProblem(schema, isProperty, names) : undefined;
		if (problem !== undefined) {
			return `${path.join(".")}: ${HEADER} ${problem}`;
		}
		// Only properties of properties can be read from the arguments without looking at their values.
		const isReachable = path.length === 0 || isProperty;
		return firstOf(Object.entries(schema), ([key, value]) =>
			key === "properties" && isObject(value)
				? firstOf(Object.entries(value), ([name, each]) => visit(each, [...path, name], isReachable))
				: VALUES.has(key)
					? undefined
					: visit(value, [...path, key], false),
		);
	};
	return visit(inputSchema, [], false);
}

/** Keywords whose value is data, not a schema. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", HEADER]);

function nameProblem(
	{ [HEADER]: name, type }: Record<string, unknown>,
	isProperty: boolean,
	names: Set<string>,
): string | undefined {
	if (!isProperty) {
		return "is only for properties of the arguments";
	}
	if (typeof name !== "string" || !TOKEN.test(name)) {
		return "is not a header's name";
	}
	if (!TYPES.has(type)) {
		return "is only for string, integer and boolean";
	}
	if (names.has(name.toLowerCase())) {
		return "names a header twice";
	}
	names.add(name.toLowerCase());
	return undefined;
}

/** Returns the first text that a function finds for an item; undefined if it finds none. */
export function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
	for (const item of items) {
		const found = find(item);
		if (found !== undefined) {
			return found;
		}
	}
	return undefined;
}
