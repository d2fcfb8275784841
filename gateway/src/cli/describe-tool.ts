import type { Tool } from "@modelcontextprotocol/client";

/** The members of a property's schema that are printed. */
interface PropertySchema {
	readonly type?: string;
	readonly enum?: readonly unknown[];
	readonly minimum?: number;
	readonly maximum?: number;
	readonly minLength?: number;
	readonly maxLength?: number;
	readonly default?: unknown;
	readonly description?: string;
}

/** A tool's arguments as written on the command line: `volume=0..100 [theme=light|dark]`. Optional ones are in brackets. */
export function signatureOf({ inputSchema }: Tool): string {
	const required = inputSchema.required ?? [];
	return propertiesOf(inputSchema)
		.map(([name, schema]) =>
			required.includes(name) ? `${name}=${valueFor(schema)}` : `[${name}=${valueFor(schema)}]`,
		)
		.join(" ");
}

/** A line for each argument with a description or default. */
export function argumentsOf({ inputSchema }: Tool): string[] {
	return propertiesOf(inputSchema).flatMap(([name, { description, default: value }]) => {
		const otherwise = value === undefined ? [] : [`Default: ${JSON.stringify(value)}.`];
		const parts = [...(description === undefined ? [] : [description]), ...otherwise];
		return parts.length === 0 ? [] : [`${name}: ${parts.join(" ")}`];
	});
}

function propertiesOf({ properties = {} }: Tool["inputSchema"]): [string, PropertySchema][] {
	return Object.entries(properties) as [string, PropertySchema][];
}

function valueFor(schema: PropertySchema): string {
	const { type = "JSON", minimum, maximum, minLength, maxLength } = schema;
	if (Array.isArray(schema.enum)) {
		return schema.enum.join("|");
	}
	if (minimum !== undefined || maximum !== undefined) {
		return `${type === "number" ? "number " : ""}${minimum ?? ""}..${maximum ?? ""}`;
	}
	if (minLength !== undefined || maxLength !== undefined) {
		return `${type} of ${minLength ?? 0}..${maxLength ?? ""} characters`;
	}
	return type;
}
