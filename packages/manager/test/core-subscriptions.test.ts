import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Connection } from "../src/core/connection.js";
import { makeSubscriptions } from "../src/core/subscriptions.js";

/** The subscriptions of a server, what it is asked, and what clients and the log are told. */
function serve(t: TestContext) {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	const asked: string[] = [];
	const updated: string[] = [];
	const warnings: string[] = [];
	const answer: { error?: Error } = {};
	const connection = {
		identity: { id: "dev-1" },
		canSubscribe: true,
		subscribe: async (uri: string, wanted = true) => {
			asked.push(`${wanted ? "+" : "-"}${uri}`);
			if (answer.error !== undefined) {
				throw answer.error;
			}
		},
	};
	const subscriptions = makeSubscriptions(
		(uri) => updated.push(uri),
		(message) => warnings.push(message),
	);
	const online = (): void => subscriptions.online(connection as unknown as Connection);
	const pass = (): void => t.mock.timers.tick(50);
	return { subscriptions, online, pass, asked, updated, warnings, answer };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the subscriptions to one server's resources", () => {
	it("gather updates for a moment, and tell of no other resource", async (t) => {
		const { subscriptions, online, pass, updated } = serve(t);
		online();
		const remove = await subscriptions.add("a://1");
		for (const uri of ["a://1", "a://2", 5, "a://1"]) {
			subscriptions.updated(uri);
		}
		assert.deepEqual(updated, []);
		pass();
		assert.deepEqual(updated, ["a://1"]);
		pass();
		subscriptions.updated("a://1");
		pass();
		assert.deepEqual(updated, ["a://1", "a://1"]);
		remove();
		subscriptions.updated("a://1");
		pass();
		assert.equal(updated.length, 2);
	});

	it("are asked for again by the next client if a returning server has rejected them", async (t) => {
		const { subscriptions, online, asked, answer } = serve(t);
		await subscriptions.add("a://1");
		answer.error = new Error("not yet");
		online();
		await settled();
		delete answer.error;
		await subscriptions.add("a://1");
		assert.deepEqual(asked, ["+a://1", "+a://1"]);
		await subscriptions.add("a://1");
		assert.equal(asked.length, 2);
	});

	it("are a thousand at most", async (t) => {
		const { subscriptions } = serve(t);
		const all = await Promise.all(Array.from({ length: 1_000 }, (_, at) => subscriptions.add(`a://${at}`)));
		await assert.rejects(subscriptions.add("a://more"), { message: /too many subscriptions \(limit 1000\)/ });
		await subscriptions.add("a://0");
		all[1]?.();
		await subscriptions.add("a://more");
	});
});
