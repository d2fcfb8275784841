import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { CallQueue } from "../../src/core/call-queue.js";
import type { Session } from "../../src/core/session.js";

const SESSION = { connected: true } as Session;

/** A queue of one call at a time and two that wait, and calls that end when the test says so. */
function open(t: TestContext, session?: Session) {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	const queue = new CallQueue(
		{ concurrency: 1, capacity: 2, turnWait: 30_000, offlineWait: 1_000, offlineMessage: () => "it is offline" },
		session,
	);
	const started: string[] = [];
	const ends: (() => void)[] = [];
	const call = async (name: string, signal?: AbortSignal): Promise<string> => {
		await queue.enter(signal);
		started.push(name);
		await new Promise<void>((resolve) => ends.push(resolve));
		queue.leave();
		return name;
	};
	const tick = (ms: number): void => t.mock.timers.tick(ms);
	return { queue, call, started, ends, tick };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the queue of calls to a server", () => {
	it("keeps no timer for a call that is cancelled while its server is offline", async () => {
		const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
		const options = {
			concurrency: 1,
			capacity: 1,
			turnWait: 300_000,
			offlineWait: 300_000,
			offlineMessage: () => "it is offline",
		};
		const queue = new CallQueue(options, undefined);
		const before = timers();
		const controller = new AbortController();
		const call = queue.enter(controller.signal);
		assert.equal(timers(), before + 1);
		controller.abort();
		assert.equal(timers(), before);
		await assert.rejects(call, { code: "cancelled" });
	});

	it("lets a call wait for its turn for so long, whether the server comes back meanwhile or not", async (t) => {
		const { queue, call, started, ends, tick } = open(t, SESSION);
		void call("silent");
		const second = call("second");
		tick(20_000);
		queue.offline();
		queue.online(SESSION);
		tick(29_999);
		const third = call("third");
		tick(1);
		const noTurn =
			/had no turn within 30 s: the server is still busy with earlier ones \(1\)\. Nothing was sent to it\.$/;
		await assert.rejects(second, { code: "queue-full", message: noTurn });
		ends[0]?.();
		await settled();
		tick(60_000);
		ends[1]?.();
		assert.equal(await third, "third");
		assert.deepEqual(started, ["silent", "third"]);
	});
});
