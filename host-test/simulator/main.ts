// The suites as an app of Moddable's simulator: it says in its trace, message by message, which test runs and how it went.
import Timer from "timer";
import * as index from "../suites/index.js";
import p256 from "./p256.suite.js";
import preloaded from "./preloaded.suite.js";

const suites = [...Object.values(index), preloaded, p256];

/** Reports the list of suites, the start and result of each test, and the end. A test that crashes the machine has no result. */
function report(kind: string, ...details: readonly unknown[]): void {
	trace(`${JSON.stringify([kind, ...details])}\n`);
}

/** Settles in a separate turn of the event loop, as events of a device do. */
function nextTurn(): Promise<void> {
	return new Promise((resolve) => {
		Timer.set(() => resolve());
	});
}

async function runAll(): Promise<void> {
	report("suites", ...suites.map(({ name, tests }) => [name, Object.keys(tests)]));
	for (const { name, tests } of suites) {
		for (const [title, run] of Object.entries(tests)) {
			await nextTurn();
			const test = `${name}: ${title}`;
			report("begun", test);
			try {
				await run();
				report("passed", test);
			} catch (error) {
				report("failed", test, `${(error as Error).message}\n${(error as Error).stack ?? ""}`);
			}
		}
	}
	report("done");
}

void runAll();
