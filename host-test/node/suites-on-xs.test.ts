import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, chooseEngine } from "xs-mcp-virtual-device";
import { cases } from "../support/scope.js";
import { skipIf } from "../support/testing.js";

// The same suites, and the same modules under test, on the engine of the chip: as they are written, and as a release build
// makes them.

/** Room for what tests leave behind: with the heap of a device, most of the time would go into collections. */
const ROOMY = { slots: 2_000_000, chunkBytes: 64_000_000 };

const { start, whyNotXs } = await chooseEngine("xs");
/** Milliseconds of a command: an hour, because each suite is one. */
const MAX_TIME = 3_600_000;

const skip = skipIf(whyNotXs && `XS cannot be built here: ${whyNotXs}`);

if (skip) {
	it("on XS", { skip }, () => {});
} else {
	for (const isRelease of cases([false, true])) {
		await runSuites(isRelease);
	}
}

async function runSuites(isRelease: boolean): Promise<void> {
	const script = await bundle(fileURLToPath(new URL("xs-suites.ts", import.meta.url)), isRelease);
	const engine = await start({ timeoutMs: MAX_TIME, limits: ROOMY });
	await engine.run("globalThis.hostConfig={config:{},settings:{},macAddress:''}");
	const [announcement] = await engine.run(script);
	const suites = announcement?.header[1] as [name: string, titles: string[]][];
	describe(`on ${engine.name}${isRelease ? ", release build" : ""}`, () => {
		after(() => engine.close());
		for (const [suite, titles] of suites) {
			describe(suite, () => {
				for (const title of titles) {
					it(title, async () => {
						const replies = await engine.deliver([{ header: ["test.run", suite, title] }]);
						const result = replies.find(({ header }) => String(header[0]).startsWith("test."));
						assert.equal(
							result?.header[0],
							"test.passed",
							String(result?.header[1] ?? "no result: a promise never settled"),
						);
					});
				}
			});
		}
	});
}
