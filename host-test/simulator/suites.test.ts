import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { findSdk, NO_SDK } from "../../scripts/moddable/sdk.js";
import { SuiteRun } from "./suite-run.js";

// The same suites on the engine of the SDK, in its simulator, with the firmware preloaded as on a chip.

/** The run, or the reason why it cannot be done: an SDK that was asked for but cannot be used is a failure. */
async function start(): Promise<SuiteRun | { skip: string | false; whyNot: string }> {
	try {
		const sdk = findSdk();
		return sdk === undefined ? { skip: NO_SDK, whyNot: NO_SDK } : await SuiteRun.start(sdk);
	} catch (error) {
		return { skip: false, whyNot: (error as Error).message };
	}
}

const run = await start();

if (!(run instanceof SuiteRun)) {
	it("the suites in Moddable's simulator", { skip: run.skip }, () => assert.fail(run.whyNot));
} else {
	after(() => run.stop());
	for (const [suite, titles] of run.suites) {
		describe(`on ${run.engine} in the simulator: ${suite}`, () => {
			for (const title of titles) {
				it(title, async () => {
					const why = await run.result(suite, title);
					assert.ok(why === undefined, why);
				});
			}
		});
	}
}
