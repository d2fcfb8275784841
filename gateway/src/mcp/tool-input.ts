import type { z } from "zod";

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
