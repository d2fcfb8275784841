// Prints one row for each test of `npm run interop`: the peer, what was run, and the result. Node loads reporters before it
// can load TypeScript.

/** A reporter for Node's test runner. A suite is a peer, a test is what was run; its diagnostics are added to the result. */
export default async function* report(events) {
	const rows = [];
	const errors = [];
	let peer = "";
	for await (const { type, data } of events) {
		const isTest = data.nesting === 1;
		if (type === "test:start" && data.nesting === 0) {
			peer = data.name;
		} else if (type === "test:diagnostic" && isTest && rows.length > 0) {
			rows.at(-1).result += `; ${data.message}`;
		} else if (type === "test:pass" && isTest) {
			rows.push({ peer, what: data.name, result: data.skip === undefined ? "passed" : `skipped: ${data.skip}` });
		} else if (type === "test:pass" && data.skip !== undefined) {
			rows.push({ peer: data.name, what: "nothing", result: `skipped: ${data.skip}` });
		} else if (type === "test:fail" && (isTest || data.details.error.failureType !== "subtestsFailed")) {
			rows.push({ peer, what: data.name, result: "FAILED" });
			errors.push(`${data.name}\n${data.details.error.cause?.stack ?? data.details.error.message}\n`);
		}
	}
	yield "\n| peer | what was run | result |\n| --- | --- | --- |\n";
	yield* rows.map((row) => `| ${row.peer} | ${row.what} | ${row.result} |\n`);
	yield* errors.map((error) => `\n${error}`);
}
