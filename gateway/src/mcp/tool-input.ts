import type * as z from "zod";

/** Checks the arguments of a call. The problem names the tool and each wrong argument. */
export function checkInput<Input extends z.ZodType>(
	name: string,
	input: Input,
	args: object,
): { readonly data: z.output<Input> } | { readonly problem: string } {
	const { data, error } = input.safeParse(args);
	return error === undefined ? { data } : { problem: `${name}: ${error.issues.map(problemOf).join("; ")}` };
}

/** Describes what is wrong with an argument in plain words, after its name. */
function problemOf({ path, message }: z.core.$ZodIssue): string {
	const missing = /^Invalid input: expected (\w+), received undefined$/.exec(message)?.[1];
	const plain = message.replace(/^(?:Invalid (?:input|option)|Too (?:small|big)): /, "");
	return [...path, missing === undefined ? plain : `required (${missing})`].join(": ");
}
