import type { Tool } from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";

const made = new WeakMap<z.ZodType, Tool["inputSchema"]>();

/**
 * The JSON Schema of a tool's arguments, without `$schema` and keywords that say nothing: some hosts refuse a whole server for
 * those. It is made on first use, which makes a program start faster.
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

interface Issue {
	readonly path: readonly PropertyKey[];
	readonly message: string;
}

const MAX_ISSUES = 5;

/** Describes invalid members, each by its name: "arguments.above: expected number, received string". `root` names the value itself. */
export function describeIssues(issues: readonly Issue[] | undefined = [], root: string): string {
	const texts = issues.map((issue) => `${issue.path.join(".") || root}: ${describeIssue(issue)}`);
	return texts.slice(0, MAX_ISSUES).join("; ");
}

/** Describes an issue in plain words, without the name of the member. */
export function describeIssue({ message }: Pick<Issue, "message">): string {
	return message
		.replace(/^Invalid input: expected (\w+), received undefined$/, "required ($1)")
		.replace(/^(?:Invalid (?:input|option|string)|Too (?:small|big)): /, "")
		.replace(/^Unrecognized (keys?): /, "unknown $1 ")
		.replace(/^Invalid input$/, "not a valid value");
}
