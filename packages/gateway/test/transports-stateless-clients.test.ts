import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { listen, until } from "../../../host-test/support/testing.js";
import { STATUS, startGateway, startWithDevice, VOLUME, WireDevice } from "../testing/gateway.js";
import { fetchStateless, postStateless } from "../testing/post-stateless.js";

// Clients of 2026-07-28 with the same token share a server of the gateway.

const text = (value: string) => ({ content: [{ type: "text", text: value }], isError: false });

describe("clients of 2026-07-28 with the same token", () => {
	it("get each its own answer, though their requests have the same id", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { onCall: () => undefined });
		const call = (volume: number) =>
			postStateless(side.clientUrl(), "tools/call", { name: VOLUME, arguments: { volume } });
		const answers = [call(1), call(2)];
		await until(() => device.calls.length === 2, "the device has both calls");
		for (const { id, arguments: args } of [...device.calls].reverse()) {
			device.answer(id, text(`volume ${args.volume}`));
		}
		for (const [index, { message }] of (await Promise.all(answers)).entries()) {
			assert.deepEqual([message.id, message.result.content], [1, text(`volume ${index + 1}`).content]);
		}
	});

	it("cannot cancel the requests of each other", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { onCall: () => undefined });
		const answer = postStateless(side.clientUrl(), "tools/call", { name: VOLUME, arguments: { volume: 1 } });
		await until(() => device.calls.length === 1, "the device has the call");
		for (const requestId of [0, 1, 2, 3]) {
			const response = await fetch(side.clientUrl(), {
				method: "POST",
				headers: { "content-type": "application/json", "mcp-protocol-version": "2026-07-28" },
				body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }),
			});
			assert.equal(response.status, 202);
		}
		device.answer(device.calls[0]?.id ?? 0, text("done"));
		assert.deepEqual((await answer).message.result.content, text("done").content);
		assert.deepEqual(device.cancelled, []);
	});

	it("are told apart from those with another token, whose catalog may be the same", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { onCall: () => undefined });
		const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
		side.access = { principal: "laptop", holder: "one", userTools: false };
		const params = { name: VOLUME, arguments: { volume: 1 } };
		const { taskId } = (await postStateless(side.clientUrl(), "tools/call", params, { capabilities })).message.result;
		const get = async () => (await postStateless(side.clientUrl(), "tasks/get", { taskId }, { capabilities })).message;
		assert.equal((await get()).result.taskId, taskId);
		side.access = { ...side.access, holder: "another" };
		assert.match((await get()).error.message, /Task not found/);
		device.answer(device.calls[0]?.id ?? 0, text("done"));
	});
});

describe("a request of 2026-07-28", () => {
	it("is rejected if its headers do not say what its body does", async (t) => {
		const { side, device } = await startWithDevice(t);
		const encoded = `=?base64?${Buffer.from(VOLUME).toString("base64")}?=`;
		const call = async (name: string) => {
			const params = { name: VOLUME, arguments: { volume: 1 } };
			const { status, message } = await postStateless(side.clientUrl(), "tools/call", params, {
				headers: { "mcp-name": name },
			});
			return [status, message.id, message.error?.code];
		};
		for (const name of ["another", `${VOLUME} `.repeat(2), "=?base64?!?=", "=?base64?_w==?="]) {
			assert.deepEqual(await call(name), [400, 1, -32_020], name);
		}
		assert.deepEqual(await call(encoded), [200, 1, undefined]);
		assert.equal(device.calls.length, 1);
		const { status, message } = await postStateless(
			side.clientUrl(),
			"tools/list",
			{},
			{ headers: { "mcp-method": "ping" } },
		);
		assert.deepEqual([status, message.error.code], [400, -32_020]);
	});

	it("is answered with invalid params if its name is not a string", async (t) => {
		const { side } = await startWithDevice(t);
		for (const method of ["tools/call", "prompts/get", "resources/read"]) {
			const params = { name: { toString: 1 }, uri: { toString: 1 }, arguments: {} };
			const { message } = await postStateless(side.clientUrl(), method, params, { headers: { "mcp-name": "x" } });
			assert.equal(message.error.code, -32_602, method);
		}
	});

	it("is answered 404 for a method that does not exist", async (t) => {
		const side = await startGateway(t);
		const { status, message } = await postStateless(side.clientUrl(), "nothing/get", {});
		assert.deepEqual([status, message.id, message.error.code], [404, 1, -32_601]);
	});

	it("is answered 200, as invalid params, if it is a device that does not know the method", async (t) => {
		const { side } = await startWithDevice(
			t,
			{},
			{
				capabilities: { tools: {}, prompts: {} },
				answers: { "prompts/list": () => ({ prompts: [{ name: "greet" }] }) },
				onCall: () => ({ code: -32_601, message: "no such method" }),
			},
		);
		for (const [method, params] of [
			["tools/call", { name: VOLUME, arguments: { volume: 1 } }],
			["prompts/get", { name: "lamp_000001__greet" }],
		] as const) {
			const { status, message } = await postStateless(side.clientUrl(), method, params);
			assert.deepEqual([status, message.error.code], [200, -32_602], method);
		}
	});
});

describe("a stream of changes, in 2026-07-28", () => {
	it("also has tasks", async (t) => {
		const { side, device } = await startWithDevice(t, { taskPatience: 0 }, { onCall: () => undefined });
		const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
		const params = { name: VOLUME, arguments: { volume: 1 } };
		const { taskId } = (await postStateless(side.clientUrl(), "tools/call", params, { capabilities })).message.result;
		const notifications = { toolsListChanged: true, taskIds: [taskId] };
		const stream = await openStream(side.clientUrl(), notifications, capabilities);
		await stream.until((heard) => heard.includes("notifications/tasks"), "the task is told");
		device.answer(device.calls[0]?.id ?? 0, text("done"));
		device.changeTools([STATUS]);
		await stream.until((heard) => heard.includes("notifications/tools/list_changed"), "the change is told");
		await stream.until((heard) => heard.filter((each) => each === "notifications/tasks").length > 1, "its end is told");
	});

	it("ends with a result when the gateway stops", async (t) => {
		const side = await startGateway(t);
		const stream = await openStream(side.clientUrl(), { toolsListChanged: true });
		await stream.until((heard) => heard.includes("notifications/subscriptions/acknowledged"), "it has begun");
		await side.endpoint.close();
		await stream.until((heard) => heard.includes("complete"), "it has ended");
	});
});

async function openStream(url: URL, notifications: object, capabilities: object = {}) {
	const options = { id: 7, capabilities };
	const response = await fetchStateless(url, "subscriptions/listen", { notifications }, options);
	assert.equal(response.status, 200);
	let received = "";
	void (async () => {
		const decoder = new TextDecoder();
		for await (const chunk of response.body ?? []) {
			received += decoder.decode(chunk, { stream: true });
		}
	})().catch(() => {});
	const heard = (): string[] =>
		[...received.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => {
			const message = JSON.parse(json);
			assert.equal((message.params ?? message.result)._meta["io.modelcontextprotocol/subscriptionId"], 7);
			return message.method ?? message.result.resultType;
		});
	return { until: (holds: (heard: string[]) => boolean, what: string) => until(() => holds(heard()), what) };
}

const META = "io.modelcontextprotocol/";
const LISTEN = {
	jsonrpc: "2.0",
	id: 1,
	method: "subscriptions/listen",
	params: {
		notifications: { resourceSubscriptions: ["device://lamp_000001/x"] },
		_meta: { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} },
	},
};

it("a client that has disconnected before its request is served leaves no subscription behind", async (t) => {
	const side = await startGateway(t);
	const device = await WireDevice.connect(t, side, {
		capabilities: { tools: {}, resources: { subscribe: true } },
		answers: { ping: () => ({}), "resources/list": () => ({ resources: [{ uri: "device://self/x", name: "x" }] }) },
	});
	await until(() => side.gateway.servers.all[0]?.offers.resources.length === 1, "its resource is known");
	let isServed = false;
	const server = createServer(async (request, response) => {
		request.resume();
		await once(response, "close");
		await side.endpoint.handle(request, response, { access: side.access, server: undefined, body: LISTEN });
		isServed = true;
	});
	const socket = connect(await listen(t, server), "127.0.0.1");
	socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", () => socket.destroy());
	await until(() => isServed, "the request is served");
	await side.gateway.servers.all[0]?.connection?.ping();
	assert.deepEqual(
		device.methods.filter((method) => method.startsWith("resources/subscribe")),
		[],
	);
});
