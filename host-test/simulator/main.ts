// The suites as an app of Moddable's simulator: it says in its trace, message by message, which test runs and how it went.
import Timer from "timer";
import * as index from "../suites/index.js";
import p256 from "./p256.suite.js";
import preloaded from "./preloaded.suite.js";

/** Report of the app. A test that never ends, or crashes the machine, has begun and nothing more. */
export type Report =
	| readonly ["suites", ...suites: readonly (readonly [name: string, titles: readonly string[]])[]]
	| readonly ["begun", suite: string, title: string]
	| readonly ["passed", suite: string, title: string]
	| readonly ["failed", suite: string, title: string, why: string]
	| readonly ["done"];

const suites = [...Object.values(index), preloaded, p256];

function report(...message: Report): void {
	trace(`${JSON.stringify(message)}\n`);
}

/** Settles in a turn of the event loop of its own, as what happens to a device does. */
function nextTurn(): Promise<void> {
	return new Promise((resolve) => {
		Timer.set(() => resolve());
	});
}

async function runAll(): Promise<void> {
	report("suites", ...suites.map(({ name, tests }) => [name, Object.keys(tests)] as const));
	for (const { name, tests } of suites) {
		for (const [title, run] of Object.entries(tests)) {
			await nextTurn();
			report("begun", name, title);
			try {
				await run();
				report("passed", name, title);
			} catch (error) {
				report("failed", name, title, `${(error as Error).message}\n${(error as Error).stack ?? ""}`);
			}
		}
	}
	report("done");
}

void runAll();
