import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

const STEP = 1_000;

/**
 * Lets time pass, without waiting, until what it starts settles: for what ends by a timeout. Only timers that are
 * set meanwhile, in this process, run by this time.
 */
export async function passTime<T>(t: TestContext, start: () => Promise<T>): Promise<T> {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	try {
		let isPending = true;
		const promise = start().finally(() => {
			isPending = false;
		});
		promise.catch(() => {});
		while (isPending) {
			t.mock.timers.tick(STEP);
			await turn();
		}
		return await promise;
	} finally {
		t.mock.timers.reset();
	}
}
