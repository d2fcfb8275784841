import type { Tool } from "@modelcontextprotocol/client";

/** A JSON Schema of any device. */
export type Schema = Readonly<Record<string, unknown>>;

/** A number that identifies something, such as a timer: a slider makes no sense for it. */
const IS_NAME = /(^|_)id$|Id$/;

/** Most values that are radio buttons; more are a list. */
const MAX_RADIOS = 6;

/** Largest range that is a slider. */
const MAX_RANGE = 10_000;

/** From this length on, a text gets an area. */
const LONG_TEXT = 500;

/** A tool's parameters, and whether each must be given. */
export function parametersOf({ inputSchema }: Tool): readonly { name: string; schema: Schema; required: boolean }[] {
	const required = Array.isArray(inputSchema.required) ? (inputSchema.required as unknown[]) : [];
	return Object.entries(inputSchema.properties ?? {}).map(([name, schema]) => ({
		name,
		schema: typeof schema === "object" && schema !== null ? (schema as Schema) : {},
		required: required.includes(name),
	}));
}

/** Returns the control for a parameter. */
export function controlOf(name: string, schema: Schema) {
	const { type, enum: values, minimum, maximum, description, maxLength } = schema;
	if (Array.isArray(values) && values.every((each) => ["string", "number"].includes(typeof each))) {
		return values.length <= MAX_RADIOS ? "radio" : "select";
	}
	if (type === "boolean") {
		return "switch";
	}
	if (type === "integer" || type === "number") {
		const isRange = typeof minimum === "number" && typeof maximum === "number" && maximum - minimum <= MAX_RANGE;
		return isRange && !IS_NAME.test(name) ? "slider" : "number";
	}
	if (type === "string") {
		if (/colou?r/i.test(name) && /#rrggbb/i.test(String(description))) {
			return "color";
		}
		return typeof maxLength === "number" && maxLength < LONG_TEXT ? "text" : "area";
	}
	const items = schema.items as Schema | null | undefined;
	if (type !== "array" || items?.type !== "string") {
		return "json";
	}
	return Array.isArray(items.enum) ? "choices" : "lines";
}

/** Whether a number is in percent: of a full volume or brightness. */
export function isPercent(name: string, { minimum, maximum, description }: Schema): boolean {
	const isNamed = /percent/i.test(String(description)) || /volume|brightness/i.test(name);
	return isNamed && minimum === 0 && maximum === 100;
}
