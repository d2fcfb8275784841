import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { coalesced } from "../../src/core/coalesced.js";

/** A task that ends when the test says so. */
function controlled() {
	const ends: ((error?: Error) => void)[] = [];
	const run = coalesced(
		() =>
			new Promise<void>((resolve, reject) => {
				ends.push((error) => (error === undefined ? resolve() : reject(error)));
			}),
	);
	return { ends, run };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a task that never runs twice at a time", () => {
	it("runs once more if it was requested meanwhile, however often", async () => {
		const { ends, run } = controlled();
		const runs = [run(), run(), run()];
		assert.equal(ends.length, 1);
		ends[0]?.();
		await settled();
		assert.equal(ends.length, 2);
		ends[1]?.();
		await Promise.all(runs);
		assert.equal(ends.length, 2);
	});

	it("runs again when it is requested at the very moment at which it ends", async () => {
		for (let microtasks = 0; microtasks < 8; microtasks += 1) {
			let runs = 0;
			const run = coalesced(async () => {
				runs += 1;
			});
			const first = run();
			for (let waited = 0; waited < microtasks; waited += 1) {
				await undefined;
			}
			await Promise.all([first, run()]);
			assert.equal(runs, 2, `${microtasks} microtasks later`);
		}
	});
});
