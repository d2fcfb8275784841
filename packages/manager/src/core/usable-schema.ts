import { isObject } from "xs-mcp-firmware/core/text/json";
import { withoutNulls } from "./received.js";

// Converts JSON Schemas of servers to a form that clients can list and compile.

type Members = Record<string, unknown>;

/** Keywords by the form of their value: a schema, a list of schemas, or schemas by names that are no keywords. */
const SUBSCHEMAS = new Map<string, "schema" | "list" | "names">([
	...words(
		"schema" as const,
		"additionalProperties additionalItems items contains not if then else propertyNames unevaluatedItems " +
			"unevaluatedProperties contentSchema",
	),
	...words("list" as const, "allOf anyOf oneOf prefixItems"),
	...words("names" as const, "properties patternProperties $defs definitions dependentSchemas dependencies"),
]);

/** Keywords whose value is data, in which null is a value. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "example"]);

const TYPES: ReadonlySet<unknown> = new Set("null boolean object array number integer string".split(" "));

/** Dialects that clients compile: 2020-12, 2019-09, draft-07 and draft-06. */
const DIALECT = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-07|draft-06)\/schema#?$/;

type Check = (value: unknown, schema: Members) => boolean;

/** Checks of the values of other keywords. */
const VALUES = new Map<string, Check>([
	...words<Check>(
		(value) => typeof value === "number",
		"minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties " +
			"maxProperties minContains maxContains",
	),
	// Keywords that make a schema depend on others, or that compilers reject.
	...words<Check>(() => false, "id $id $async $dynamicRef $recursiveRef $dynamicAnchor"),
	["type", (value) => (Array.isArray(value) && value.length > 0 ? value : [value]).every((each) => TYPES.has(each))],
	["enum", (value) => Array.isArray(value) && value.length > 0],
	["required", isStrings],
	["dependentRequired", (value) => isObject(value) && Object.values(value).every(isStrings)],
	["uniqueItems", (value) => typeof value === "boolean"],
	["nullable", (value, { type }) => typeof value === "boolean" && (!value || type !== undefined)],
	["format", (value) => typeof value === "string"],
	["pattern", isPattern],
]);

function words<Value>(value: Value, keywords: string): [string, Value][] {
	return keywords.split(" ").map((keyword) => [keyword, value]);
}

/** Maximum depth of nested schemas. */
const MAX_DEPTH = 60;

/** Characters of a keyword's value in a problem. */
const MAX_QUOTE = 100;

/** Replaces boolean schemas of properties: clients of the SDK v1 reject a whole list because of `true`. */
function withObjectsFor(properties: unknown): Members | undefined {
	if (!isObject(properties)) {
		return undefined;
	}
	const usable = ([name, schema]: [string, unknown]) =>
		[name, isObject(schema) ? schema : schema === false ? { not: {} } : {}] as const;
	return Object.fromEntries(Object.entries(properties).map(usable));
}

/**
 * Returns the schema of a tool's arguments in a form that clients accept. Devices omit its type, or the schema, if a
 * tool takes no arguments. Unusable members are left out.
 */
export function usableInputSchema(schema: unknown): Members {
	const { type: _, properties, required, ...rest } = readSchema(schema) ?? {};
	const usable = withObjectsFor(properties);
	return {
		type: "object",
		...(usable !== undefined && { properties: usable }),
		...(isStrings(required) && { required }),
		...rest,
	};
}

/** The members of a schema without keywords that are null; undefined if it is not an object. */
function readSchema(schema: unknown): Members | undefined {
	const isData = (key: string, _: unknown, parent: string) => DATA.has(key) && SUBSCHEMAS.get(parent) !== "names";
	return isObject(schema) ? withoutNulls(schema, isData) : undefined;
}

/**
 * Returns the schema of a tool's result in a form that clients can compile, or the problem: a client of the SDK v1
 * would reject the whole list, with the tools of other servers, and one of v2 the call.
 */
export function usableOutputSchema(schema: unknown): { readonly schema?: Members; readonly problem?: string } {
	const read = readSchema(schema);
	if (read === undefined) {
		return schema === undefined || schema === null ? {} : { problem: "not a schema" };
	}
	// `$id` is a name for references from other schemas. Clients cannot compile two tools with the same one.
	const { $id: _, ...whole } = read;
	const root: Members = { type: "object", ...whole };
	const usable = withObjectsFor(root.properties);
	const result = usable === undefined ? root : { ...root, properties: usable };
	const problem = compileProblem(result);
	return problem === undefined ? { schema: result } : { problem };
}

/** Why a schema cannot be compiled; undefined if it can. The check takes a time that is bounded by the schema's size. */
function compileProblem(root: Members): string | undefined {
	const anchors = new Set<unknown>();
	const hasTuples = /draft-0[67]/.test(`${root.$schema}`);

	const isUsable = (schema: Members, keyword: string, value: unknown): boolean => {
		switch (keyword) {
			case "$schema":
				return schema === root && typeof value === "string" && DIALECT.test(value);
			case "$ref":
				return typeof value === "string" && resolves(root, value);
			case "$anchor": {
				const isNew = !anchors.has(value);
				anchors.add(value);
				return isNew && typeof value === "string" && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value);
			}
			default:
				return VALUES.get(keyword)?.(value, schema) ?? true;
		}
	};

	const check = (schema: unknown, path: string, depth: number): string | undefined => {
		if (typeof schema === "boolean") {
			return undefined;
		}
		if (!isObject(schema) || depth === 0) {
			return `${path} is ${depth === 0 ? "nested too deeply" : "not a schema"}`;
		}
		return firstOf(Object.entries(schema), ([keyword, value]) => {
			const at = `${path}/${keyword}`;
			const isTuple = keyword === "items" && hasTuples && Array.isArray(value);
			const kind = isTuple ? "list" : SUBSCHEMAS.get(keyword);
			if (kind === "schema") {
				return check(value, at, depth - 1);
			}
			if (kind === undefined) {
				return isUsable(schema, keyword, value)
					? undefined
					: `${at} has the value ${JSON.stringify(value).slice(0, MAX_QUOTE)}`;
			}
			if (kind === "list" ? !Array.isArray(value) || value.length === 0 : !isObject(value)) {
				return `${at} is not ${kind === "list" ? "a list of schemas" : "an object"}`;
			}
			return firstOf(Object.entries(value as Members), ([name, each]) => {
				if (keyword === "patternProperties" && !isPattern(name)) {
					return `${at}: ${JSON.stringify(name)} is not a pattern`;
				}
				return keyword === "dependencies" && isStrings(each) ? undefined : check(each, `${at}/${name}`, depth - 1);
			});
		});
	};
	return check(root, "#", MAX_DEPTH);
}

/** Whether a reference leads to a schema, and not into a cycle of references. */
function resolves(root: Members, reference: string): boolean {
	const seen = new Set<unknown>();
	let schema = atPointer(root, reference);
	while (isObject(schema) && !seen.has(schema)) {
		seen.add(schema);
		if (typeof schema.$ref !== "string") {
			return true;
		}
		schema = atPointer(root, schema.$ref);
	}
	return typeof schema === "boolean";
}

/** Returns the part of a schema that a local reference names: a JSON Pointer after "#" (RFC 6901 §6). Undefined if there is none. */
export function atPointer(root: unknown, reference: string): unknown {
	if (!/^#(\/|$)/.test(reference)) {
		return undefined;
	}
	let value = root;
	for (const part of reference.split("/").slice(1)) {
		const key = decoded(part)?.replaceAll("~1", "/").replaceAll("~0", "~");
		const isFound = key !== undefined && typeof value === "object" && value !== null && Object.hasOwn(value, key);
		value = isFound ? (value as Members)[key] : undefined;
	}
	return value;
}

function isStrings(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isPattern(value: unknown): boolean {
	try {
		return typeof value === "string" && new RegExp(value, "u") !== undefined;
	} catch {
		return false;
	}
}

function decoded(part: string): string | undefined {
	try {
		return decodeURIComponent(part);
	} catch {
		return undefined;
	}
}

/** The member of a property's schema that requests the argument as an HTTP header, too: `Mcp-Param-NAME`. */
const HEADER = "x-mcp-header";

/** The characters of a header's name: RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const HEADER_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * The error in a tool's headers (2026-07-28, "Custom Headers from Tool Parameters"): a client must not offer such a
 * tool. Undefined without one.
 */
export function headerProblem(inputSchema: unknown): string | undefined {
	const names = new Set<string>();
	const nameProblem = (name: unknown, type: unknown, isProperty: boolean): string | undefined => {
		const header = typeof name === "string" ? name.toLowerCase() : "";
		if (!isProperty) {
			return "is only for properties of the arguments";
		}
		if (!TOKEN.test(header)) {
			return "is not a header's name";
		}
		if (!HEADER_TYPES.has(type)) {
			return "is only for string, integer and boolean";
		}
		return names.size === names.add(header).size ? "names a header twice" : undefined;
	};
	const visit = (schema: unknown, path: readonly string[], isProperty: boolean): string | undefined => {
		if (!isObject(schema)) {
			return Array.isArray(schema) ? firstOf(schema, (each) => visit(each, path, false)) : undefined;
		}
		const problem = HEADER in schema ? nameProblem(schema[HEADER], schema.type, isProperty) : undefined;
		if (problem !== undefined) {
			return `${path.join(".")}: ${HEADER} ${problem}`;
		}
		// Only properties of properties can be read from the arguments without looking at their values.
		const isReachable = path.length === 0 || isProperty;
		return firstOf(Object.entries(schema), ([key, value]) => {
			if (key === "properties" && isObject(value)) {
				return firstOf(Object.entries(value), ([name, each]) => visit(each, [...path, name], isReachable));
			}
			return DATA.has(key) ? undefined : visit(value, [...path, key], false);
		});
	};
	return visit(inputSchema, [], false);
}

/** Returns the first text that a function finds for an item; undefined if it finds none. */
function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
	for (const item of items) {
		const found = find(item);
		if (found !== undefined) {
			return found;
		}
	}
	return undefined;
}
