import type { Tool } from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";

const made = new WeakMap<z.ZodType, Tool["inputSchema"]>();

/**
 * The JSON Schema of a tool's arguments, without `$schema` and keywords without effect: some hosts reject a whole
 * server because of them. Created on first use, so that programs start faster.
 */
export function inputSchemaOf(input: z.ZodType): Tool["inputSchema"] {
	let schema = made.get(input);
	if (schema === undefined) {
		const { $schema: _, ...members } = z.toJSONSchema(input, {
			io: "input",
			// Removes keywords that allow everything.
			override({ jsonSchema }) {
				const { additionalProperties: others, propertyNames: names } = jsonSchema;
				if (typeof others === "object" && Object.keys(others).length === 0) {
					delete jsonSchema.additionalProperties;
				}
				if (isObject(names) && names.type === "string" && Object.keys(names).length === 1) {
					delete jsonSchema.propertyNames;
				}
			},
		});
		schema = members as Tool["inputSchema"];
		made.set(input, schema);
	}
	return schema;
}
