import { isObject } from "../firmware.js";

// JSON Schemas of servers, made such that clients can list and compile them.

type Members = Record<string, unknown>;

/** Keywords whose value is data, in which null is a value. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "example"]);

/** Keywords whose value is an object of schemas by names that are no keywords. */
const MAPS: ReadonlySet<string> = new Set(
	"properties patternProperties $defs definitions dependentSchemas dependencies".split(" "),
);

/** Keywords whose value is a list of schemas. */
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

/** Keywords whose value is a schema. */
const SCHEMAS: ReadonlySet<string> = new Set(
	(
		"additionalProperties additionalItems items contains not if then else propertyNames unevaluatedItems " +
		"unevaluatedProperties contentSchema"
	).split(" "),
);

const NUMBERS: ReadonlySet<string> = new Set(
	(
		"minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties " +
		"maxProperties minContains maxContains"
	).split(" "),
);

const TYPES: ReadonlySet<unknown> = new Set("null boolean object array number integer string".split(" "));

/** Dialects that clients compile: 2020-12, 2019-09, draft-07 and draft-06. */
const DIALECT = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-07|draft-06)\/schema#?$/;

/** Levels of schemas in a schema. */
const MAX_DEPTH = 60;

/** Returns a schema without keywords that are null. The same object if there are none. */
function withoutNullKeywords(schema: unknown, depth = MAX_DEPTH): unknown {
	if (Array.isArray(schema)) {
		const items = schema.map((item) => withoutNullKeywords(item, depth - 1));
		return items.some((item, index) => item !== schema[index]) ? items : schema;
	}
	if (!isObject(schema) || depth <= 0) {
		return schema;
	}
	const kept = Object.entries(schema).flatMap(([keyword, value]) => {
		if (DATA.has(keyword)) {
			return [[keyword, value] as const];
		}
		if (value === null) {
			return [];
		}
		const isMap = MAPS.has(keyword) && isObject(value);
		return [[keyword, isMap ? withoutNullsIn(value, depth - 1) : withoutNullKeywords(value, depth - 1)] as const];
	});
	const isSame = kept.length === Object.keys(schema).length && kept.every(([key, value]) => value === schema[key]);
	return isSame ? schema : Object.fromEntries(kept);
}

function withoutNullsIn(schemas: Members, depth: number): Members {
	const kept = Object.entries(schemas)
		.filter(([, schema]) => schema !== null)
		.map(([name, schema]) => [name, withoutNullKeywords(schema, depth)] as const);
	const isSame =
		kept.length === Object.keys(schemas).length && kept.every(([name, schema]) => schema === schemas[name]);
	return isSame ? schemas : Object.fromEntries(kept);
}

/** Clients of the SDK v1 reject a whole list if a property has `true` for its schema. */
function withObjectsFor(properties: unknown): Members | undefined {
	if (!isObject(properties)) {
		return undefined;
	}
	const isUsable = Object.values(properties).every(isObject);
	const usable = ([name, schema]: [string, unknown]) =>
		[name, isObject(schema) ? schema : schema === false ? { not: {} } : {}] as const;
	return isUsable ? properties : Object.fromEntries(Object.entries(properties).map(usable));
}

/**
 * Returns the schema of a tool's arguments such that clients list it. Devices omit its type, or the schema, if a tool takes no
 * arguments. What cannot be used is left out.
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

/** The members of a schema; undefined if it is none. */
function readSchema(schema: unknown): Members | undefined {
	return isObject(schema) ? (withoutNullKeywords(schema) as Members) : undefined;
}

/**
 * Returns the schema of a tool's result such that clients can compile it, or the problem: a client of the SDK v1 would reject the
 * whole list, with the tools of other servers, and one of v2 the call.
 */
export function usableOutputSchema(schema: unknown): { readonly schema?: Members; readonly problem?: string } {
	const read = readSchema(schema);
	if (read === undefined) {
		return schema === undefined || schema === null ? {} : { problem: "not a schema" };
	}
	// A name for a schema that others could refer to. Clients cannot compile two tools with the same.
	const { $id: _, ...whole } = read;
	const root: Members = { type: "object", ...whole };
	const usable = withObjectsFor(root.properties);
	const result = usable === undefined ? root : { ...root, properties: usable };
	const problem = new SchemaCheck(result).problem;
	return problem === undefined ? { schema: result } : { problem };
}

function isStrings(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A check of every keyword's form, of patterns and of references, in a time that is bounded by the schema's size. */
class SchemaCheck {
	readonly #root: Members;
	readonly #anchors = new Set<unknown>();
	/** Whether lists of schemas may be the value of `items`. */
	readonly #hasTuples: boolean;
	/** Why the schema cannot be compiled; undefined if it can. */
	readonly problem: string | undefined;

	constructor(root: Members) {
		this.#root = root;
		this.#hasTuples = /draft-0[67]/.test(`${root.$schema}`);
		this.problem = this.#check(root, "#", MAX_DEPTH);
	}

	#check(schema: unknown, path: string, depth: number): string | undefined {
		if (typeof schema === "boolean") {
			return undefined;
		}
		if (!isObject(schema)) {
			return `${path} is not a schema`;
		}
		if (depth === 0) {
			return `${path} is nested too deeply`;
		}
		for (const [keyword, value] of Object.entries(schema)) {
			const problem = this.#checkKeyword({ schema, keyword, value, path: `${path}/${keyword}`, depth: depth - 1 });
			if (problem !== undefined) {
				return problem;
			}
		}
		return undefined;
	}

	#checkKeyword(at: Keyword): string | undefined {
		const { keyword, value, path, depth } = at;
		const isTuple = keyword === "items" && this.#hasTuples && Array.isArray(value);
		if (LISTS.has(keyword) || isTuple) {
			return Array.isArray(value) && value.length > 0
				? firstProblem(value.entries(), ([index, each]) => this.#check(each, `${path}/${index}`, depth))
				: `${path} is not a list of schemas`;
		}
		if (SCHEMAS.has(keyword)) {
			return this.#check(value, path, depth);
		}
		if (MAPS.has(keyword)) {
			return isObject(value) ? this.#checkMap(at) : `${path} is not an object`;
		}
		return this.#isUsable(at) ? undefined : `${path} has the value ${JSON.stringify(value).slice(0, MAX_QUOTE)}`;
	}

	#checkMap({ keyword, value, path, depth }: Keyword): string | undefined {
		return firstProblem(Object.entries(value as Members), ([name, each]) => {
			if (keyword === "patternProperties" && !isPattern(name)) {
				return `${path}: ${JSON.stringify(name)} is not a pattern`;
			}
			const isNames = keyword === "dependencies" && isStrings(each);
			return isNames ? undefined : this.#check(each, `${path}/${name}`, depth);
		});
	}

	#isUsable({ schema, keyword, value, path }: Keyword): boolean {
		if (NUMBERS.has(keyword)) {
			return typeof value === "number";
		}
		switch (keyword) {
			case "type":
				return Array.isArray(value) ? value.length > 0 && value.every((each) => TYPES.has(each)) : TYPES.has(value);
			case "enum":
				return Array.isArray(value) && value.length > 0;
			case "required":
				return isStrings(value);
			case "dependentRequired":
				return isObject(value) && Object.values(value).every(isStrings);
			case "uniqueItems":
				return typeof value === "boolean";
			case "nullable":
				return typeof value === "boolean" && (!value || schema.type !== undefined);
			case "format":
				return typeof value === "string";
			case "pattern":
				return typeof value === "string" && isPattern(value);
			case "$schema":
				return typeof value === "string" && DIALECT.test(value) && path === "#/$schema";
			case "$ref":
				return typeof value === "string" && this.#resolves(value);
			case "$anchor":
				return this.#isNewAnchor(value);
			default:
				return !UNUSABLE.has(keyword);
		}
	}

	#isNewAnchor(value: unknown): boolean {
		const isNew = typeof value === "string" && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value) && !this.#anchors.has(value);
		this.#anchors.add(value);
		return isNew;
	}

	/** Whether a reference leads to a schema, and not only to references that lead back to it. */
	#resolves(reference: string): boolean {
		const seen = new Set<unknown>();
		let schema = this.#at(reference);
		while (isObject(schema) && !seen.has(schema)) {
			seen.add(schema);
			if (typeof schema.$ref !== "string") {
				return true;
			}
			schema = this.#at(schema.$ref);
		}
		return typeof schema === "boolean";
	}

	/** The value that a JSON Pointer of this schema names (RFC 6901 §6). */
	#at(reference: string): unknown {
		if (!/^#(\/|$)/.test(reference)) {
			return undefined;
		}
		let value: unknown = this.#root;
		for (const part of reference.split("/").slice(1)) {
			const key = decoded(part)?.replaceAll("~1", "/").replaceAll("~0", "~");
			const isFound = key !== undefined && typeof value === "object" && value !== null && Object.hasOwn(value, key);
			value = isFound ? (value as Members)[key] : undefined;
		}
		return value;
	}
}

interface Keyword {
	readonly schema: Members;
	readonly keyword: string;
	readonly value: unknown;
	readonly path: string;
	readonly depth: number;
}

/** Characters of a keyword's value in a problem. */
const MAX_QUOTE = 100;

/** Keywords with which a schema needs others, or that compilers reject. */
const UNUSABLE: ReadonlySet<string> = new Set("id $id $async $dynamicRef $recursiveRef $dynamicAnchor".split(" "));

function isPattern(text: string): boolean {
	try {
		new RegExp(text, "u");
		return true;
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

function firstProblem<Item>(items: Iterable<Item>, find: (item: Item) => string | undefined): string | undefined {
	for (const item of items) {
		const problem = find(item);
		if (problem !== undefined) {
			return problem;
		}
	}
	return undefined;
}
