/** Settings cannot be used. The message has a line for each, with its name as the user wrote it. */
export class ConfigurationError extends Error {
	constructor(problems: readonly string[], options?: { cause?: unknown }) {
		super(problems.join("\n"), options);
		this.name = "ConfigurationError";
	}
}
