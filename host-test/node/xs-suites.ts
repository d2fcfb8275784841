// The suites as a script for an engine: Node says which test to run, and hears how it went.
import { receive, send } from "../../packages/virtual-device/platform/bridge.js";
import * as index from "../suites/index.js";

const suites = Object.values(index);

receive("test.run", ([suite, title]) => {
	const run = suites.find(({ name }) => name === suite)?.tests[title as string];
	Promise.resolve()
		.then(run)
		.then(
			() => send(["test.passed"]),
			(error: Error) => send(["test.failed", `${error.message}\n${error.stack ?? ""}`]),
		);
});

send(["test.suites", suites.map(({ name, tests }) => [name, Object.keys(tests)])]);
