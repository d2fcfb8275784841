import type { Tool } from "@modelcontextprotocol/client";
import { z } from "zod";

const made = new WeakMap<z.ZodType, Tool["inputSchema"]>();

/** The JSON Schema of a tool's arguments, without `$schema`. It is made on first use, which makes a program start faster. */
export function inputSchemaOf(input: z.ZodType): Tool["inputSchema"] {
	let schema = made.get(input);
	if (schema === undefined) {
		const { $schema: _, ...members } = z.toJSONSchema(input, { io: "input" });
		schema = members as Tool["inputSchema"];
		made.set(input, schema);
	}
	return schema;
}
