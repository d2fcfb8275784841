// A reporter for Node's test runner that sends what happens to the process that started it, as runner/report.ts reads it.
// Node loads reporters before it can load TypeScript.

/** The name of the test that runner/entry.mjs adds to those of each file. */
export const END_OF_FILE = "end of file";

export default async function* report(events) {
	for await (const { type, data } of events) {
		if (data.name === END_OF_FILE) {
			if (type === "test:pass") {
				process.send?.({ type: "end" });
			}
		} else if (type === "test:start" || type === "test:pass" || type === "test:fail" || type === "test:diagnostic") {
			const { name, nesting, message, details, skip } = data;
			process.send?.({
				type: type.slice("test:".length),
				name: name ?? message,
				nesting,
				isSuite: details?.type === "suite",
				duration: details?.duration_ms,
				skip,
				...(type === "test:fail" && failure(details.error)),
			});
		}
		yield "";
	}
}

/** A suite fails because a test in it did, which was told before. */
function failure(error) {
	const cause = error.cause ?? error;
	return {
		isFromBelow: error.failureType === "subtestsFailed",
		error: typeof cause === "object" ? (cause.stack ?? cause.message ?? String(cause)) : String(cause),
	};
}
