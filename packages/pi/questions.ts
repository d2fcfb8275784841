// Asks the person the questions of servers during calls: one dialog for each field of the form.
import type { ExtensionContext } from "@mariozechner/pi-coding-agent";
import type { Elicit, ElicitRequest } from "xs-mcp-manager";

type UI = ExtensionContext["ui"];
type Field = ElicitRequest["requestedSchema"]["properties"][string] & Readonly<Record<string, unknown>>;
type Value = string | number | boolean | string[];

/** Answers questions by dialogs. A person who closes one cancels the question. */
export function answerBy(ui: UI): Elicit {
	return async ({ server, message, requestedSchema, signal }) => {
		const { properties, required = [] } = requestedSchema;
		const options = signal ? { signal } : undefined;
		const fields = Object.entries(properties) as [string, Field][];
		if (fields.length === 0) {
			const isAccepted = await ui.confirm(`${server} asks`, message, options);
			return isAccepted ? { action: "accept", content: {} } : { action: "decline" };
		}
		const content: Record<string, Value> = {};
		for (const [name, field] of fields) {
			const isRequired = required.includes(name);
			const title = `${server} asks: ${message}\n${labelOf(name, field)}${isRequired ? "" : " (optional)"}`;
			const value = await askField(ui, title, field, isRequired, options);
			if (value === undefined) {
				return { action: "cancel" };
			}
			if (value !== SKIPPED) {
				content[name] = value;
			}
		}
		return { action: "accept", content };
	};
}

const SKIPPED = Symbol("skipped");

/** A list shows this for a field that may be left out. */
const NONE = "(none)";

/** The value of a field, {@link SKIPPED}, or undefined if the person cancels. Asks again while a value is not valid. */
async function askField(
	ui: UI,
	title: string,
	field: Field,
	isRequired: boolean,
	options: { readonly signal: AbortSignal } | undefined,
): Promise<Value | typeof SKIPPED | undefined> {
	const choices = choicesOf(field);
	if (choices !== undefined) {
		const shown = [...choices.keys(), ...(isRequired ? [] : [NONE])];
		const chosen = await ui.select(title, shown, options);
		return chosen === NONE && !isRequired ? SKIPPED : chosen === undefined ? undefined : choices.get(chosen);
	}
	for (;;) {
		const text = await ui.input(title, hintOf(field), options);
		if (text === undefined) {
			return undefined;
		}
		if (text === "" && !isRequired) {
			return SKIPPED;
		}
		const value = typedValue(field, text);
		if (value !== undefined) {
			return value;
		}
		ui.notify(`Not valid: ${JSON.stringify(text)}. Expected: ${hintOf(field)}`, "warning");
	}
}

function labelOf(name: string, { title, description }: Field): string {
	return [title ?? name, description].filter((text) => text !== undefined).join(": ");
}

/** The choices of a field by what the person sees; undefined if the person types the value. */
function choicesOf(field: Field): Map<string, Value> | undefined {
	const {
		type,
		oneOf,
		enum: values,
		enumNames,
	} = field as {
		readonly type?: string;
		readonly oneOf?: readonly { readonly const: string; readonly title?: string }[];
		readonly enum?: readonly string[];
		readonly enumNames?: readonly string[];
	};
	if (type === "boolean") {
		return new Map([
			["yes", true],
			["no", false],
		]);
	}
	if (oneOf !== undefined) {
		return new Map(oneOf.map((choice) => [choice.title ?? choice.const, choice.const]));
	}
	return values && new Map(values.map((value, at) => [enumNames?.[at] ?? value, value]));
}

function hintOf({ type, minimum, maximum, format, default: given }: Field): string {
	const range =
		minimum !== undefined || maximum !== undefined ? ` from ${minimum ?? "any"} to ${maximum ?? "any"}` : "";
	const kind = type === "array" ? "values, separated by commas" : type === "string" ? (format ?? "text") : type;
	return `${kind}${range}${given === undefined ? "" : `, for example ${given}`}`;
}

/** The value that a person has typed; undefined if the server would reject it. */
function typedValue({ type, minimum, maximum }: Field, text: string): Value | undefined {
	if (type === "array") {
		return text.split(",").map((part) => part.trim());
	}
	if (type !== "number" && type !== "integer") {
		return text;
	}
	const value = text.trim() === "" ? Number.NaN : Number(text);
	const isWithin = value >= Number(minimum ?? -Infinity) && value <= Number(maximum ?? Infinity);
	return isWithin && (type === "number" || Number.isInteger(value)) ? value : undefined;
}
