import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Device } from "../../src/servers/device.js";

// A device at the other end of a link in memory: what it is asked is seen, what it answers is said.

interface Payload {
	readonly id?: number;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
}

function connect() {
	const asked: Payload[] = [];
	const closed: string[] = [];
	const stray: string[] = [];
	const device = new Device({
		identity: { deviceId: "dev", clientId: "uuid", transport: "test" },
		sessionId: "s",
		send: (message) => asked.push((message as { payload: Payload }).payload),
		close: (reason) => closed.push(reason),
	});
	device.on("stray", (description) => stray.push(description));
	/** Answers the latest request. */
	const answer = (member: object): void => device.receive({ jsonrpc: "2.0", id: asked.at(-1)?.id, ...member });
	return { device, asked, closed, stray, answer };
}

const RESULT = { content: [{ type: "text", text: "ok" }], isError: false };

describe("a device, as the gateway sees it", () => {
	it("lists all pages", async () => {
		const { device, asked, answer } = connect();
		const list = device.listTools({ withUserTools: true });
		answer({ result: { tools: [{ name: "a", inputSchema: {} }], nextCursor: "b" } });
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(asked.at(-1)?.params, { cursor: "b", withUserTools: true });
		answer({ result: { tools: [{ name: "b", inputSchema: {} }] } });
		assert.deepEqual(
			(await list).map(({ name }) => name),
			["a", "b"],
		);
	});

	it("gives up a call in time, and tells the device", async () => {
		const { device, asked } = connect();
		await assert.rejects(device.callTool("t", {}, { timeout: 10 }), { code: "timeout", message: /within 10 ms/ });
		assert.equal(asked.at(-1)?.method, "notifications/cancelled");
		assert.equal(asked.at(-1)?.params?.requestId, asked[0]?.id);
		assert.equal(device.pending, 0);
	});

	it("cancels a call, and tells the device", async () => {
		const { device, asked } = connect();
		const controller = new AbortController();
		const call = device.callTool("t", {}, { signal: controller.signal });
		controller.abort();
		await assert.rejects(call, { code: "cancelled" });
		assert.equal(asked.at(-1)?.method, "notifications/cancelled");
		await assert.rejects(device.callTool("t", {}, { signal: controller.signal }), { code: "cancelled" });
		assert.equal(asked.length, 2, "what is cancelled already is not sent");
	});

	it("hands on progress to the call that it is of", async () => {
		const { device, asked, answer } = connect();
		const seen: unknown[] = [];
		const call = device.callTool("t", {}, { onProgress: ({ progress }) => seen.push(progress) });
		const { progressToken } = (asked[0]?.params?._meta ?? {}) as { progressToken?: unknown };
		device.receive({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
		device.receive({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "x", progress: 2 } });
		answer({ result: RESULT });
		await call;
		assert.deepEqual(seen, [1]);
	});

	it("passes a JSON-RPC error on with its code", async () => {
		const { device, answer } = connect();
		const call = device.callTool("t");
		answer({ error: { code: -32602, message: "Unknown tool: t", data: 1 } });
		await assert.rejects(call, { name: "RpcError", code: -32602, message: "Unknown tool: t", data: 1 });
	});

	it("rejects answers that are none", async () => {
		for (const member of [
			{},
			{ result: 5 },
			{ result: {} },
			{ result: { content: [1] } },
			{ error: {} },
			{ error: { code: "x" } },
		]) {
			const { device, answer } = connect();
			const call = device.callTool("t");
			answer(member);
			await assert.rejects(call, { code: "bad-answer" }, JSON.stringify(member));
		}
	});

	it("drops and reports what makes no sense", () => {
		const { device, stray } = connect();
		for (const message of [5, null, [], {}, { id: 99, result: {} }, { id: "1", result: {} }, { method: "x", id: {} }]) {
			device.receive(message);
		}
		assert.equal(stray.length, 7);
	});

	it("answers what a device asks of it", () => {
		const { device, asked } = connect();
		device.receive({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage" });
		assert.deepEqual(asked, [
			{ jsonrpc: "2.0", id: "q", error: { code: -32601, message: "Method not found: sampling/createMessage" } },
		]);
	});

	it("fails what is under way when the device goes, and everything after", async () => {
		const { device, closed } = connect();
		const call = device.callTool("t");
		device.close("unplugged");
		device.close("again");
		await assert.rejects(call, { code: "device-gone", message: "dev: unplugged" });
		await assert.rejects(device.ping(), { code: "device-gone" });
		assert.deepEqual(closed, ["unplugged"]);
	});
});
