import Digital from "embedded:io/digital";
import type { OpenMember } from "../board-data.js";

/** Sets pins that power other parts of a board, and keeps them. */
export default (({ data: { outputs = {} }, board }) => {
	const opened = Object.entries(outputs).map(([pin, level]) => {
		// The SDK's typings have only the options of an input.
		const Output = Digital as unknown as new (options: object) => { write(level: number): void };
		const output = new Output({ pin: Number(pin), mode: (Digital as unknown as { readonly Output: number }).Output });
		output.write(level);
		return output;
	});
	Object.assign(board, { outputs: opened });
}) satisfies OpenMember;
