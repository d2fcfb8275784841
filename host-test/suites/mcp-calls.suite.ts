import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { Client, tool, type Wire } from "../doubles/client.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, settled, suite, throws } from "../harness.js";

function slow() {
	const calls: { resolve(value: unknown): void; reject(error: unknown): void; call: ToolCall }[] = [];
	const made = tool(
		"slow",
		(_args, _context, call) => new Promise((resolve, reject) => calls.push({ resolve, reject, call })),
	);
	const client = new Client<undefined>({ context: undefined, tools: [made] });
	const begin = (id: number | string = 1, more: object = {}): Wire[] =>
		client.say(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "slow", ...more } }));
	return { client, calls, begin };
}

function sleepy() {
	const timer = new FakeTimer();
	const log: string[] = [];
	let delay = 0;
	const sleeper = tool("sleeper", async (_args, _context, call) => {
		try {
			await call.sleep(delay);
		} catch (error) {
			log.push((error as Error).name);
			throw error;
		}
		return "awake";
	});
	const client = new Client<undefined>({ context: undefined, tools: [sleeper], timer });
	client.initialize("2025-11-25");
	const start = (id: number, milliseconds: number): unknown[] => {
		delay = milliseconds;
		return client.say(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"sleeper"}}`);
	};
	const answers = (): [unknown, unknown][] => client.heard().map(({ id, result }) => [id, result.content[0].text]);
	return { client: Object.assign(client, { start, answers }), timer, log };
}

export default suite("calls in progress", {
	"keeps several calls in flight and answers each when it is done": given(slow, async ({ client, calls, begin }) => {
		for (const id of [1, "two", 3]) {
			begin(id);
		}
		equal(client.ask("ping", undefined, 4).id, 4);
		calls[2]?.resolve("c");
		calls[0]?.reject(new Error("a"));
		calls[1]?.resolve("b");
		await settled();
		const answers = client.heard();
		equal(answers.map(({ id }) => id).sort(), [1, 3, "two"]);
		equal(answers.find(({ id }) => id === 1).error.message, "a");
	}),
	"answers both of two calls that share an id": given(slow, async ({ client, calls, begin }) => {
		begin(7);
		begin(7);
		calls[0]?.resolve("a");
		calls[1]?.resolve("b");
		await settled();
		const ids = client.heard().map(({ id }) => id);
		equal(ids, [7, 7]);
	}),
	async "tells a cancelled tool, logs that it failed to stop, and does not answer it"() {
		const { client, calls, begin } = slow();
		let told = 0;
		begin("a");
		(calls[0] as { call: ToolCall }).call.onCancel = () => {
			told += 1;
			throw new Error("cannot stop");
		};
		client.cancel("a");
		client.cancel("a");
		equal([told, calls[0]?.call.cancelled], [1, true]);
		equal(client.log, ['call "a": failed to cancel: Error: cannot stop']);
		calls[0]?.resolve("late");
		await settled();
		equal(client.heard(), []);
	},
	"a notification cancels a call only if it says so, and names it": given(slow, ({ client, calls, begin }) => {
		begin();
		for (const notification of [
			{ method: "notifications/progress", params: { requestId: 1 } },
			{ method: "notifications/cancelled" },
			{ method: "notifications/cancelled", params: null },
			{ method: "notifications/cancelled", params: { requestId: "1" } },
		]) {
			equal(client.say(JSON.stringify({ jsonrpc: "2.0", ...notification })), [], JSON.stringify(notification));
			equal(calls[0]?.call.cancelled, false, JSON.stringify(notification));
		}
	}),
	"answers a batch when its last call is done": given(slow, async ({ client, calls }) => {
		equal(
			client.say(
				'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
			),
			[],
		);
		calls[0]?.resolve("done");
		await settled();
		const ids = client.heard().map((batch) => batch.map(({ id }: { id: number }) => id));
		equal(ids, [[1, 2]]);
	}),
	async "rejects more calls than it can hold, and takes more when some have ended"() {
		const { client, calls, begin } = slow();
		for (let id = 1; id <= 16; id += 1) {
			begin(id);
		}
		equal(client.call("slow", {}, 17).error.code, -32000);
		calls[0]?.resolve("a");
		await settled();
		client.heard();
		equal(begin(18), []);
	},
	async "reports progress to a client that asked for it, until the call is done"() {
		const { client, calls, begin } = slow();
		begin(1, { _meta: { progressToken: "p" } });
		calls[0]?.call.progress(1, 2, "half");
		equal(client.heard(), [
			{
				jsonrpc: "2.0",
				method: "notifications/progress",
				params: { progressToken: "p", progress: 1, total: 2, message: "half" },
			},
		]);
		calls[0]?.resolve("done");
		await settled();
		client.heard();
		calls[0]?.call.progress(2);
		equal(client.heard(), []);
	},
	"reports its own event, also after its answer": given(slow, ({ client, calls, begin }) => {
		begin();
		const call = calls[0]?.call;
		call?.end();
		call?.emit("tank.empty", { litres: 0 });
		call?.emit("door.open");
		const heard = (params: object) => ({ jsonrpc: "2.0", method: "notifications/event", params });
		equal(client.heard(), [heard({ name: "tank.empty", data: { litres: 0 } }), heard({ name: "door.open" })]);
		for (const name of ["", "x".repeat(65)]) {
			throws(() => call?.emit(name), /^emit: expected a name of 1 to 64 characters/);
		}
		equal(client.heard(), []);
	}),
	"reports no progress to a client that did not ask": given(slow, ({ client, calls, begin }) => {
		begin();
		calls[0]?.call.progress(1);
		equal(client.heard(), []);
	}),
	async "drops calls in progress when the session closes, and ignores what comes after"() {
		const { client, calls, begin } = slow();
		begin();
		client.session.close();
		equal(calls[0]?.call.cancelled, true);
		calls[0]?.resolve("late");
		await settled();
		client.session.notify('{"jsonrpc":"2.0","method":"notifications/late"}');
		equal(client.say('{"jsonrpc":"2.0","id":2,"method":"ping"}'), []);
		equal(begin(3), []);
		equal(calls.length, 1);
	},
	"lets a tool wait, and its other calls go on meanwhile": given(sleepy, async ({ client, timer }) => {
		equal([client.start(1, 500), client.start(2, 100), timer.size], [[], [], 2]);
		await timer.passed(100);
		equal(client.answers(), [[2, "awake"]]);
		await timer.passed(400);
		equal([client.answers(), timer.size], [[[1, "awake"]], 0]);
	}),
	async "wakes a tool that sleeps when its call is cancelled or the session closes"() {
		const { client, timer, log } = sleepy();
		client.start(1, 500);
		client.start(2, 500);
		client.cancel(1);
		await settled();
		equal([log.splice(0), timer.size], [["CallCancelled"], 1]);
		client.session.close();
		await settled();
		timer.pass(1000);
		equal([log, timer.size, client.answers()], [["CallCancelled"], 0, []]);
	},
	"lets a tool sleep for no time at all": given(sleepy, async ({ client, timer }) => {
		client.start(1, 0);
		await timer.passed(0);
		equal(client.answers(), [[1, "awake"]]);
	}),
	"does not let a tool sleep after it has ended, nor for an invalid time": given(sleepy, async ({ client, timer }) => {
		for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
			client.start(delay < 0 ? 1 : 2, delay);
			await settled();
			matches(String(client.answers()[0]?.[1]), /^sleep: expected milliseconds, 0 or more, got /);
		}
		const careless = tool("careless", async (_args, _context, call) => {
			void call.sleep(1000);
			return "done";
		});
		client.server.tools.add(careless);
		client.heard();
		const [{ id, result }] = await client.request("tools/call", { name: "careless" }, 3);
		equal([id, result.content[0].text, timer.size], [3, "done", 0]);
	}),
});
