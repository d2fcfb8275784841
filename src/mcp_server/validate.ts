import { isObject } from "../core/text/json.js";
import type { Schema } from "./schema.js";

/** A value that does not match its schema. The message names the argument and what was expected. */
export class ValidationError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "ValidationError";
	/** The path of the value: "volume", "points[2].x". */
	readonly path: string;

	constructor(path: string, message: string) {
		super(path === "" ? message : `${path}: ${message}`);
		this.path = path;
	}
}

const MAX_QUOTED = 40;

// Looked up once: XS searches the global object, and these, at each use.
const { create, hasOwn } = Object;
const { isInteger } = Number;

/** A schema prepared for {@link validate}: its members are a table, for fast calls. */
export interface Validator {
	readonly schema: Schema;
	/** Members of an object. Undefined: it may have any. */
	readonly members?: readonly Member[];
	/** Schema of an array's items. */
	readonly items?: Validator;
}

/** A member of an object, with its validator. */
export interface Member extends Validator {
	readonly name: string;
	/** Whether it is an object or array with members to validate. */
	readonly isNested: boolean;
	readonly isRequired: boolean;
}

/** Prepares a schema. Its texts are dropped: only the list of tools has them. */
export const prepare = ({ title: _title, description: _description, ...schema }: Schema): Validator => ({
	schema,
	...(schema.properties && { members: prepareMembers(schema) }),
	...(schema.items !== undefined && { items: prepare(schema.items) }),
});

/** Prepares the members of an object's schema. A tool does it once, so that XS can keep the result in flash. */
export const prepareMembers = ({ properties = {}, required = [] }: Schema): readonly Member[] =>
	Object.entries(properties).map(([name, property]) => ({
		name,
		...prepare(property),
		isNested: property.type === "object" || property.type === "array",
		isRequired: required.includes(name),
	}));

/** The names of all members that a schema has, on every level. */
export const memberNames = ({ members = [], items }: Pick<Validator, "members" | "items">): readonly string[] => {
	const nested = members.flatMap((member) => [member.name, ...memberNames(member)]);
	return items === undefined ? nested : [...nested, ...memberNames(items)];
};

/**
 * Checks a value against a schema and returns it with defaults filled in. Members that the schema does not name are
 * dropped, because JSON Schema allows them.
 *
 * @param path the path of the value, for the error
 * @throws ValidationError at the first mismatch
 */
export const validate = ({ schema, members, items }: Validator, value: unknown, path = ""): unknown => {
	if (!fits(schema, value)) {
		throw misfit(schema, value, path);
	}
	if (members !== undefined) {
		return validateMembers(members, value as Record<string, unknown>, path);
	}
	return items === undefined ? value : (value as unknown[]).map((item, at) => validate(items, item, `${path}[${at}]`));
};

/**
 * {@link validate} for the members of a known object. Null counts as absent if it is optional. Every call runs it, so
 * it builds no path for a valid, flat member.
 *
 * @throws ValidationError at the first mismatch
 */
export const validateMembers = (
	members: readonly Member[],
	value: Readonly<Record<string, unknown>>,
	path?: string,
): object => {
	// Without a prototype: an argument may have any name, `__proto__` too.
	const result: Record<string, unknown> = create(null);
	for (let at = 0; at < members.length; at += 1) {
		const member = members[at] as Member;
		const name = member.name;
		const schema = member.schema;
		const given = hasOwn(value, name) ? value[name] : undefined;
		if (given === undefined || (given === null && !member.isRequired)) {
			if (schema.default !== undefined) {
				result[name] = schema.default;
			} else if (member.isRequired) {
				throw new ValidationError(memberPath(path, name), `missing, expected ${describe(schema)}`);
			}
		} else if (member.isNested) {
			result[name] = validate(member, given, memberPath(path, name));
		} else if (fits(schema, given)) {
			result[name] = given;
		} else {
			throw misfit(schema, given, memberPath(path, name));
		}
	}
	return result;
};

const memberPath = (path: string | undefined, name: string): string => (path ? `${path}.${name}` : name);

const misfit = (schema: Schema, value: unknown, path: string): ValidationError =>
	new ValidationError(path, `expected ${describe(schema)}, got ${quote(value)}`);

/** The most common types come first. */
const fits = (schema: Schema, value: unknown): boolean => {
	switch (schema.type) {
		case "integer":
			// `inRange`, spelled out for the type that most arguments have: a call takes XS 450 instructions.
			return (
				isInteger(value) &&
				!((value as number) < (schema.minimum as number)) &&
				!((value as number) > (schema.maximum as number))
			);
		case "string":
			return (
				typeof value === "string" &&
				(schema.enum?.includes(value) ?? true) &&
				inRange(value.length, schema.minLength, schema.maxLength) &&
				(schema.check?.(value) ?? true)
			);
		case "boolean":
			return typeof value === "boolean";
		case "number":
			return Number.isFinite(value) && inRange(value as number, schema.minimum, schema.maximum);
		case "array":
			return Array.isArray(value) && inRange(value.length, schema.minItems, schema.maxItems);
		case "object":
			return isObject(value);
	}
};

/** An undefined limit excludes nothing: no number is less or greater than undefined. */
const inRange = (value: number, lowest: number | undefined, highest: number | undefined): boolean =>
	!(value < (lowest as number)) && !(value > (highest as number));

/** A schema's description for errors: "an integer from 0 to 100". */
const describe = (schema: Schema): string => {
	switch (schema.type) {
		case "boolean":
			return "true or false";
		case "integer":
			return `an integer${range(schema.minimum, schema.maximum)}`;
		case "number":
			return `a number${range(schema.minimum, schema.maximum)}`;
		case "string":
			if (schema.enum !== undefined) {
				return `one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`;
			}
			return schema.check?.expected ?? `a string${counted(schema.minLength, schema.maxLength, "characters")}`;
		case "array":
			return `an array${counted(schema.minItems, schema.maxItems, "items")}`;
		case "object":
			return "an object";
	}
};

const range = (lowest: number | undefined, highest: number | undefined): string => {
	if (lowest !== undefined && highest !== undefined) {
		return ` from ${lowest} to ${highest}`;
	}
	if (lowest !== undefined) {
		return ` of at least ${lowest}`;
	}
	return highest === undefined ? "" : ` of at most ${highest}`;
};

const counted = (lowest: number | undefined, highest: number | undefined, noun: string): string => {
	const words = range(lowest, highest);
	return words === "" ? "" : `${words} ${noun}`;
};

/** `1e999` is parsed as infinity, which JSON cannot express. */
const quote = (value: unknown): string => {
	const json = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
	return json.length > MAX_QUOTED ? `${json.slice(0, MAX_QUOTED)}…` : json;
};
