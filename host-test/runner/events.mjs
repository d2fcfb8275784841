// A reporter for Node's test runner that sends what happens to the process that started it, as runner/report.ts reads it.
// Node loads reporters before it can load TypeScript.

import { readFileSync } from "node:fs";

/** The name of the test that runner/entry.mjs adds to those of each file. */
export const END_OF_FILE = "end of file";

export default async function* report(events) {
	for await (const { type, data } of events) {
		if (data.name === END_OF_FILE) {
			if (type === "test:pass") {
				process.send?.({ type: "end", cpuTime: cpuTime() });
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
		error: describe(cause),
	};
}

/** An error with its causes: "fetch failed" alone says nothing. */
function describe(error) {
	const text = typeof error === "object" ? (error?.stack ?? error?.message ?? String(error)) : String(error);
	return error?.cause === undefined ? text : `${text}\nCaused by: ${describe(error.cause)}`;
}

/** Ticks a second in Linux's /proc. */
const TICKS = 100;

/** Milliseconds of CPU that this process has used, and its child processes that have ended; without these if /proc does not exist. */
function cpuTime() {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000 + childTime();
}

function childTime() {
	try {
		const stat = readFileSync("/proc/self/stat", "utf8");
		// Behind the program's name in parentheses, the times of ended children are the 14th and 15th field.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
	} catch {
		return 0;
	}
}
