interface Issue {
	readonly path: readonly PropertyKey[];
	readonly message: string;
}

/** Issues that are described at most. */
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
