import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";

/** The input schema of a tool of the gateway, as its list shows it. */
export function inputSchemaOf(input: z.ZodType): Tool["inputSchema"] {
	const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" });
	return schema as Tool["inputSchema"];
}

/** Checks the arguments of a call. The problem names the tool and each wrong argument. */
export function checkInput<Input extends z.ZodType>(
	name: string,
	input: Input,
	args: object,
): { readonly data: z.output<Input> } | { readonly problem: string } {
	const { data, error } = input.safeParse(args);
	if (error === undefined) {
		return { data };
	}
	const problems = error.issues.map(({ path, message }) => [...path, message].join(": "));
	return { problem: `${name}: ${problems.join("; ")}` };
}
