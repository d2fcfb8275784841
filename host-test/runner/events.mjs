// A reporter for Node's test runner that sends each file's results to the process that started it, as runner/report.ts reads them.
// Node loads reporters before it can load TypeScript.

/** The name of the test that runner/entry.mjs adds to those of each file. */
export const END_OF_FILE = "end of file";

/** A count at the end of the process: the summary has its own. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

const newResult = () => ({ passed: 0, failures: [], skipped: {}, diagnostics: [], lines: [] });

export default async function* report(events) {
	let result = newResult();
	const titles = [];
	for await (const { type, data } of events) {
		const { name, nesting, message, details, skip } = data;
		const isEnd = type === "test:pass" || type === "test:fail";
		const title = () => titles.join(" › ");
		if (name === END_OF_FILE) {
			if (isEnd) {
				process.send?.({ result });
				result = newResult();
			}
		} else if (type === "test:start") {
			titles.splice(nesting, titles.length, name);
			process.send?.({ running: title() });
		} else if (type === "test:diagnostic" && nesting > 0) {
			result.diagnostics.push(`${title()}: ${message}`);
		} else if (type === "test:diagnostic" && !COUNT.test(message)) {
			// An error after the end of its test, for which Node ends the process with exit code 1.
			console.error(message);
		} else if (isEnd) {
			titles.splice(nesting, titles.length, name);
			if (skip !== undefined) {
				const reason = skip === true ? "no reason given" : skip;
				result.skipped[reason] = (result.skipped[reason] ?? 0) + 1;
			} else if (type === "test:pass" && details.type !== "suite") {
				result.passed += 1;
			} else if (type === "test:fail" && details.error.failureType !== "subtestsFailed") {
				result.failures.push({ title: title(), error: describe(details.error.cause ?? details.error) });
			}
			if (nesting === 0) {
				const ended = `${type === "test:pass" ? "ok    " : "FAILED"} ${name} (${Math.round(details.duration_ms)} ms)`;
				result.lines.push(skip === undefined ? ended : `skipped ${name}: ${skip}`);
			}
		}
		yield "";
	}
}

/** An error with its causes: "fetch failed" alone says nothing. */
function describe(error) {
	const text = typeof error === "object" ? (error?.stack ?? error?.message ?? String(error)) : String(error);
	return error?.cause === undefined ? text : `${text}\nCaused by: ${describe(error.cause)}`;
}
