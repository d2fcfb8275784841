declare const inferred: unique symbol;

/**
 * A JSON Schema, as listed. `T` is the TypeScript type of a valid value.
 *
 * `validate` supports exactly the subset that the builders below make.
 */
export interface Schema<T = unknown> extends Described<T> {
	readonly type: "boolean" | "integer" | "number" | "string" | "array" | "object";
	readonly enum?: readonly string[];
	readonly minimum?: number;
	readonly maximum?: number;
	/** Lengths in UTF-16 code units. */
	readonly minLength?: number;
	readonly maxLength?: number;
	readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
	readonly pattern?: string;
	readonly format?: string;
	/** The header in which clients repeat the argument for proxies: `Mcp-Param-` followed by this. */
	readonly "x-mcp-header"?: string;
	/** A further check of a string. Not listed, because it is a function. */
	readonly check?: StringCheck;
	readonly items?: Schema;
	readonly minItems?: number;
	readonly maxItems?: number;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	/** Exists only in the type system. */
	readonly [inferred]?: T;
}

/** A rule for strings: the check, and its description: "a date such as 2026-01-31". */
export type StringCheck = ((value: string) => boolean) & { readonly expected: string };

/** An optional property. */
export interface OptionalProperty<T = unknown> {
	readonly optional: Schema<T>;
}

/** The properties of an object, by name. One with a `default` is optional. */
export type Properties = Readonly<Record<string, Schema | OptionalProperty>>;

type OptionalKeys<P extends Properties> = { [K in keyof P]: P[K] extends OptionalProperty ? K : never }[keyof P];

/** The TypeScript type of an object with these properties. */
export type InferProperties<P extends Properties> = {
	readonly [K in Exclude<keyof P, OptionalKeys<P>>]: P[K] extends Schema<infer T> ? T : never;
} & {
	readonly [K in OptionalKeys<P>]?: P[K] extends OptionalProperty<infer T> ? T | undefined : never;
};

/** Members that every schema may have. */
export interface Described<T> {
	/** A display name. */
	readonly title?: string;
	readonly description?: string;
	readonly default?: T;
}

/** Limits of a number, inclusive. */
export interface NumberOptions extends Described<number>, Pick<Schema, "minimum" | "maximum"> {}

/** Limits of a text. */
export interface StringOptions extends Described<string>, Pick<Schema, "minLength" | "maxLength" | "x-mcp-header"> {}

/** Limits of a list. */
export interface ArrayOptions<T> extends Described<readonly T[]>, Pick<Schema, "minItems" | "maxItems"> {}

/**
 * True or false.
 *
 * @example
 * input: { on: boolean({ description: "Whether the lamp is on" }) }
 */
export const boolean = (options: Described<boolean> = {}): Schema<boolean> => ({ type: "boolean", ...options });

/**
 * A whole number.
 *
 * @example
 * input: { volume: integer({ minimum: 0, maximum: 100, description: "Percent of full volume" }) }
 */
export const integer = (options: NumberOptions = {}): Schema<number> => ({ type: "integer", ...options });

/**
 * A number, whole or not. Never infinite.
 *
 * @example
 * input: { degrees: number({ minimum: -180, maximum: 180, default: 0 }) }
 */
export const number = (options: NumberOptions = {}): Schema<number> => ({ type: "number", ...options });

/**
 * Text.
 *
 * @example
 * input: { name: string({ minLength: 1, maxLength: 32 }) }
 */
export const string = (options: StringOptions = {}): Schema<string> => ({ type: "string", ...options });

/**
 * One of several strings.
 *
 * @example
 * input: { color: enumeration(["red", "green", "blue"], { default: "red" }) }
 */
export const enumeration = <const T extends string>(
	values: readonly T[],
	options: Described<NoInfer<T>> = {},
): Schema<T> => ({ type: "string", enum: values, ...options });

/**
 * A list whose items all have one schema.
 *
 * @example
 * input: { levels: array(integer({ minimum: 0, maximum: 255 }), { minItems: 1, maxItems: 8 }) }
 */
export const array = <T>(items: Schema<T>, options: ArrayOptions<T> = {}): Schema<readonly T[]> => ({
	type: "array",
	items,
	...options,
});

/**
 * An object with these members. A member with a default, or marked with {@link optional}, is optional.
 *
 * @example
 * input: { point: object({ x: integer(), y: integer(), label: optional(string()) }) }
 */
export const object = <P extends Properties>(
	properties: P,
	options: Described<InferProperties<P>> = {},
): Schema<InferProperties<P>> => {
	const required: string[] = [];
	const schemas = Object.entries(properties).map(([name, property]): [string, Schema] => {
		const schema = "optional" in property ? property.optional : property;
		if (schema === property && schema.default === undefined) {
			required.push(name);
		}
		return [name, schema];
	});
	return {
		type: "object",
		properties: Object.fromEntries(schemas),
		...(required.length > 0 && { required }),
		...options,
	};
};

/**
 * Marks an optional property; undefined in `run` if absent.
 *
 * @example
 * input: { note: optional(string({ description: "Why" })) }
 */
export const optional = <T>(schema: Schema<T>): OptionalProperty<T> => ({ optional: schema });
