import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { until } from "../../../host-test/support/testing.js";
import {
	type Asked,
	connectClient,
	startWithDevice,
	type TestGateway,
	type WireDeviceOptions,
} from "../testing/gateway.js";

const STATELESS = { experimental: { stateless: { supportedVersions: ["2026-07-28"] } } };
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

async function start(t: TestContext, isStateless: boolean) {
	const calls: Asked[] = [];
	const options: WireDeviceOptions = {
		capabilities: { tools: {}, logging: {}, ...(isStateless && STATELESS) },
		answers: {
			"tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
			"tools/call": (asked) => {
				calls.push(asked);
				return undefined;
			},
		},
	};
	const { side, device } = await startWithDevice(t, {}, options);
	const log = (call: Asked | undefined, level: string, data: unknown) =>
		device.notify("notifications/message", {
			level,
			data,
			...(call && { _meta: { "xs-mcp/requestId": call.id } }),
		});
	const end = (call: Asked | undefined) => device.answer(call?.id as number, { content: [], resultType: "complete" });
	return { side, device, calls, log, end };
}

async function connect(t: TestContext, side: TestGateway, era: "2025-11-25" | "2026-07-28") {
	const client = await connectClient(t, side.clientUrl(), era);
	const messages: unknown[] = [];
	client.setNotificationHandler("notifications/message", ({ params: { level, data } }) => {
		messages.push([level, data]);
	});
	const call = (level?: string) => callWork(client, level);
	return { client, messages, call };
}

const callWork = (client: Client, level?: string) =>
	client.callTool({ name: "lamp_000001__work", ...(level && { _meta: { [LOG_LEVEL]: level } }) } as never);

describe("log messages of a device", () => {
	it("go into the call that they belong to, and to no other client", async (t) => {
		const { side, calls, log, end } = await start(t, true);
		const [first, second] = [await connect(t, side, "2025-11-25"), await connect(t, side, "2026-07-28")];
		const [one, two] = [first.call(), second.call("debug")];
		await until(() => calls.length === 2, "both are called");
		const isSecond = (call: Asked) => call.params._meta[LOG_LEVEL] === "debug";
		const [callOne, callTwo] = [calls.find((call) => !isSecond(call)), calls.find(isSecond)];
		log(callOne, "info", "for the first");
		log(callTwo, "debug", "for the second");
		log(undefined, "alert", "for nobody: two calls are under way");
		end(callOne);
		end(callTwo);
		await Promise.all([one, two]);
		assert.deepEqual(first.messages, [["info", "for the first"]]);
		assert.deepEqual(second.messages, [["debug", "for the second"]]);
	});

	it("of a device that does not name the call belong to the only one under way, and to nobody outside a call", async (t) => {
		const { side, calls, log, end } = await start(t, false);
		const { messages, call } = await connect(t, side, "2025-11-25");
		log(undefined, "alert", "outside");
		// Its answer comes after the message.
		await side.gateway.servers.connections[0]?.ping();
		const called = call();
		await until(() => calls.length === 1, "called");
		assert.equal(calls[0]?.params._meta, undefined, "a device without the stateless form gets none");
		log(undefined, "warning", "inside");
		end(calls[0]);
		await called;
		assert.deepEqual(messages, [["warning", "inside"]]);
	});

	it("of a cancelled call do not go into the next one", async (t) => {
		const { side, device, calls, log, end } = await start(t, false);
		const [first, second] = [await connect(t, side, "2025-11-25"), await connect(t, side, "2025-11-25")];
		const cancelling = new AbortController();
		const params = { name: "lamp_000001__work" };
		const cancelled = assert.rejects(first.client.callTool(params, { signal: cancelling.signal }));
		await until(() => calls.length === 1, "called");
		cancelling.abort();
		await cancelled;
		await until(() => device.methods.includes("notifications/cancelled"), "the device is told");
		const called = second.call();
		await until(() => calls.length === 2, "called again");
		log(undefined, "warning", "of the first call, or of the second");
		end(calls[1]);
		await called;
		assert.deepEqual([first.messages, second.messages], [[], []]);
	});

	it("are those of the level that the client has set, or that its request names", async (t) => {
		const { side, calls, log, end } = await start(t, true);
		const old = await connect(t, side, "2025-11-25");
		const recent = await connect(t, side, "2026-07-28");
		const runs = [
			{ client: old, level: undefined, wanted: "info", seen: ["info", "error"] },
			{ client: recent, level: undefined, wanted: undefined, seen: [] },
			{ client: recent, level: "error", wanted: "error", seen: ["error"] },
			{ client: old, level: undefined, wanted: "debug", seen: ["debug", "info", "error"] },
		];
		for (const { client, level, wanted, seen } of runs) {
			if (wanted === "debug") {
				await old.client.setLoggingLevel("debug");
			}
			client.messages.length = 0;
			const called = client.call(level);
			await until(() => calls.length === 1, "called");
			const [asked] = calls.splice(0);
			assert.equal(asked?.params._meta[LOG_LEVEL], wanted);
			for (const each of ["debug", "info", "error"]) {
				log(asked, each, 1);
			}
			end(asked);
			await called;
			assert.deepEqual(
				client.messages,
				seen.map((each) => [each, 1]),
			);
		}
	});

	it("are asked for at the level that a client wants, if the device has only logging/setLevel", async (t) => {
		const { side, device, calls, end } = await start(t, false);
		const first = await connect(t, side, "2025-11-25");
		await first.client.setLoggingLevel("debug");
		const second = await connect(t, side, "2026-07-28");
		for (const call of [first.call, () => second.call("error"), first.call]) {
			const called = call();
			await until(() => calls.length === 1, "called");
			end(calls.pop());
			await called;
		}
		const found = device.askedBy("logging/setLevel").map(({ params }) => params);
		assert.deepEqual(found, [{ level: "debug" }]);
	});

	it("are limited in number and size", async (t) => {
		t.mock.method(performance, "now", () => 5_000);
		const { side, calls, log, end } = await start(t, true);
		const { messages, call } = await connect(t, side, "2025-11-25");
		const called = call();
		await until(() => calls.length === 1, "called");
		log(calls[0], "info", "x".repeat(20_000));
		for (let index = 0; index < 100; index += 1) {
			log(calls[0], "info", index);
		}
		log(calls[0], "no level", 1);
		end(calls[0]);
		await called;
		assert.deepEqual(messages[0], ["info", "20002 characters, at most 10000 are sent"]);
		assert.equal(messages.length, 20, "in a second");
	});
});
