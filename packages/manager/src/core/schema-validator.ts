import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";

export type Schema = Readonly<Record<string, unknown>>;

/** Functions that return whether a value is valid, by the schema that they were compiled from. */
export type Validators = WeakMap<Schema, (value: unknown) => boolean>;

/** A value, and the schema for it, which is not trusted. */
export interface ValueCheck {
	/** The value's name in messages: "arguments". */
	readonly what: string;
	readonly schema: Schema;
	readonly value: unknown;
}

/** The result of a check. Without members, the value is valid. */
export interface CheckResult {
	/** The error in the value, with the path of the member. */
	readonly problem?: string | undefined;
	/** The reason why the schema cannot be used. */
	readonly schemaError?: string | undefined;
}

/** Number of compilations after which the cache is cleared. Devices of one kind share schemas. */
const MAX_COMPILED = 1_000;

const OPTIONS: Options = {
	strict: false,
	validateFormats: false,
	// Compiling the 2020-12 meta-schema takes half a second. Wrong types of keywords are rejected without it.
	validateSchema: false,
	logger: false,
	code: { regExp: linearRegExp },
};

/** Validators by the JSON of their schemas. */
const compiled = new Map<string, ValidateFunction>();
let draft07 = new Ajv(OPTIONS);
let draft2020 = new Ajv2020(OPTIONS);
let compilations = 0;

/**
 * Checks a value against a JSON Schema: 2020-12, as in MCP, unless the schema names draft-07.
 *
 * @param validators cache by schema, which is faster than the one by JSON
 */
export function checkValue({ what, schema, value }: ValueCheck, validators: Validators = new WeakMap()): CheckResult {
	try {
		let validator = validators.get(schema) as ValidateFunction | undefined;
		if (validator === undefined) {
			const text = JSON.stringify(schema);
			validator = compiled.get(text) ?? compile(schema);
			compiled.set(text, validator);
			validators.set(schema, validator);
		}
		return validator(value) ? {} : { problem: describe(what, validator.errors?.[0]) };
	} catch (error) {
		return { schemaError: `cannot be used: ${(error as Error).message}` };
	}
}

function compile(schema: Schema): ValidateFunction {
	if (schema.$async !== undefined) {
		throw new Error("$async is not a keyword of JSON Schema");
	}
	// Ajv keeps parts of every schema that it compiled: only a new instance frees that memory.
	compilations += 1;
	if (compilations % MAX_COMPILED === 0) {
		compiled.clear();
		draft07 = new Ajv(OPTIONS);
		draft2020 = new Ajv2020(OPTIONS);
	}
	const isDraft07 = typeof schema.$schema === "string" && schema.$schema.includes("draft-07");
	const ajv = isDraft07 ? draft07 : draft2020;
	try {
		return ajv.compile(schema);
	} finally {
		// Two devices' schemas may have the same $id.
		ajv.removeSchema(schema);
	}
}

/** Patterns come from devices and are matched against what clients send: RE2 takes linear time, RegExp may never end. */
function linearRegExp(pattern: string): { test: (text: string) => boolean; toString: () => string } {
	const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
	// Ajv identifies patterns by their text.
	return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}
// Ajv writes this into standalone code, which is not used here.
linearRegExp.code = "";

function describe(what: string, error: ErrorObject | undefined): string {
	const { instancePath = "", keyword = "", message = "does not fit the schema", params = {} } = error ?? {};
	const member = { required: params.missingProperty, additionalProperties: params.additionalProperty }[keyword];
	const path = [...instancePath.split("/").slice(1), ...(member === undefined ? [] : [member])].join(".");
	const { allowedValues: values } = params;
	const allowed = Array.isArray(values) ? `: ${values.map((value) => JSON.stringify(value)).join(", ")}` : "";
	return `${path === "" ? what : path}: ${PHRASES[keyword] ?? message}${allowed}`;
}

const PHRASES: Readonly<Record<string, string>> = { required: "is missing", additionalProperties: "is unknown" };
