import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Client, ProtocolError } from "@modelcontextprotocol/client";
import { ChangeStream } from "../src/core/subscriptions.js";

/** A stream of a server with these capabilities, the filters that it was asked for, and what became of them. */
function open(t: TestContext, capabilities: object | undefined) {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	const filters: object[] = [];
	const streams: { closed: boolean; end: () => void }[] = [];
	const answer: { error?: Error } = {};
	let gaps = 0;
	const client = {
		getServerCapabilities: () => capabilities,
		listen: async (filter: object) => {
			filters.push(filter);
			if (answer.error !== undefined) {
				throw answer.error;
			}
			const stream = { closed: false, end: (): void => {} };
			streams.push(stream);
			const closed = new Promise<void>((resolve) => {
				stream.end = resolve;
			});
			return {
				closed,
				close: async () => {
					stream.closed = true;
					stream.end();
				},
			};
		},
	};
	const stream = new ChangeStream(client as unknown as Client, () => {
		gaps += 1;
	});
	const pass = async (ms: number): Promise<void> => {
		await settled();
		t.mock.timers.tick(ms);
		await settled();
	};
	return { stream, filters, streams, answer, pass, gaps: () => gaps };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the stream of a server's changes", () => {
	it("asks for what the server says that it reports", async (t) => {
		const { stream, filters } = open(t, {
			tools: { listChanged: true },
			prompts: { listChanged: false },
			resources: { listChanged: true },
		});
		await stream.start();
		assert.deepEqual(filters, [{ toolsListChanged: true, resourcesListChanged: true }]);
		t.mock.timers.reset();
		const prompts = open(t, { tools: {}, prompts: { listChanged: true } });
		await prompts.stream.start();
		assert.deepEqual(prompts.filters, [{ promptsListChanged: true }]);
	});

	it("is not opened for a server that reports nothing", async (t) => {
		for (const capabilities of [undefined, {}, { tools: {} }]) {
			const { stream, filters } = open(t, capabilities);
			await stream.start();
			assert.deepEqual(filters, []);
			t.mock.timers.reset();
		}
	});

	it("opens with a resource more or less, and closes the one before when nothing can be on its way in it", async (t) => {
		const { stream, filters, streams, pass } = open(t, {});
		const closed = () => streams.map((each) => each.closed);
		await stream.follow("a://1", true);
		await stream.follow("a://2", true);
		assert.deepEqual(closed(), [false, false]);
		await stream.follow("a://1", false);
		assert.deepEqual(closed(), [true, false, false], "the one before the last has had a round trip");
		await pass(5_000);
		assert.deepEqual(closed(), [true, true, false]);
		assert.deepEqual(
			filters,
			[["a://1"], ["a://1", "a://2"], ["a://2"]].map((resourceSubscriptions) => ({ resourceSubscriptions })),
		);
		await stream.follow("a://2", false);
		assert.deepEqual(closed(), [true, true, true]);
		assert.equal(filters.length, 3, "nothing is wanted any more");
	});

	it("closes all with its session", async (t) => {
		const { stream, streams } = open(t, {});
		await stream.follow("a://1", true);
		await stream.follow("a://2", true);
		stream.close();
		const found = streams.map(({ closed }) => closed);
		assert.deepEqual(found, [true, true]);
	});

	it("forgets a resource that the server rejects", async (t) => {
		const { stream, filters, answer } = open(t, {});
		answer.error = new Error("no");
		await assert.rejects(stream.follow("a://1", true), { message: "no" });
		delete answer.error;
		await stream.follow("a://2", true);
		assert.deepEqual(filters.at(-1), { resourceSubscriptions: ["a://2"] });
	});

	it("opens again when it ends, after a second, and then says that changes may be missed", async (t) => {
		const { stream, filters, streams, pass, gaps } = open(t, { tools: { listChanged: true } });
		await stream.start();
		streams[0]?.end();
		await pass(700);
		assert.equal(filters.length, 1);
		await pass(300);
		assert.deepEqual([filters.length, gaps()], [2, 1]);
		stream.close();
		assert.equal(streams[1]?.closed, true);
		await pass(100_000);
		assert.equal(filters.length, 2);
	});

	it("waits longer after each attempt that fails, and gives up if the server rejects it", async (t) => {
		const { stream, filters, answer, pass, gaps } = open(t, { tools: { listChanged: true } });
		answer.error = new Error("away");
		await stream.start();
		await pass(1_000);
		assert.equal(filters.length, 2);
		await pass(1_499);
		assert.equal(filters.length, 2);
		await pass(501);
		assert.equal(filters.length, 3);
		answer.error = new ProtocolError(-32_601, "no such method");
		await pass(4_000);
		assert.equal(filters.length, 4);
		await pass(1_000_000);
		assert.deepEqual([filters.length, gaps()], [4, 0]);
	});

	it("opens again although a subscription fails meanwhile, and says that changes may be missed", async (t) => {
		const { stream, filters, streams, answer, pass, gaps } = open(t, { tools: { listChanged: true } });
		for (const [count, error] of [new Error("away"), new ProtocolError(-32_602, "no such resource")].entries()) {
			await stream.start();
			streams.at(-1)?.end();
			await pass(0);
			answer.error = error;
			await assert.rejects(stream.follow("a://1", true));
			delete answer.error;
			await pass(1_000);
			assert.deepEqual([filters.at(-1), gaps()], [{ toolsListChanged: true }, count + 1]);
		}
	});

	it("is open again with a subscription, and then says that changes may be missed", async (t) => {
		const { stream, filters, streams, pass, gaps } = open(t, { tools: { listChanged: true } });
		await stream.start();
		streams[0]?.end();
		await pass(0);
		await stream.follow("a://1", true);
		assert.deepEqual([filters.length, gaps()], [2, 1]);
		await pass(100_000);
		assert.deepEqual([filters.length, gaps()], [2, 1]);
	});
});
