import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as makeRequest, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { listen } from "../../../host-test/support/listen.js";
import { until } from "../../../host-test/support/until.js";
import { SessionTransport } from "../../src/transports/session-transport.js";
import { initializeParams } from "../support/raw-session.js";

// The timer of a session and each response that it may meet. The clock is the test's.

const TICK = 15_000;

/** More than both ends of a connection buffer: it waits until the client reads. */
const LONG = "x".repeat(16 * 1024 * 1024);

const PARAMS = initializeParams();

/** A session whose server is the test, with a request "call" that was not answered. Its client reads nothing until it is told to. */
async function start(t: TestContext) {
	const transport = new SessionTransport({ onOpened: () => "session", onStream: () => {} });
	transport.setSupportedProtocolVersions([...SUPPORTED_PROTOCOL_VERSIONS]);
	const errors: Error[] = [];
	transport.onerror = (error) => errors.push(error);
	let called = 0;
	transport.onmessage = (message) => {
		if ("method" in message && message.method === "initialize" && "id" in message) {
			transport.setProtocolVersion(PARAMS.protocolVersion);
			void transport.send({ jsonrpc: "2.0", id: message.id, result: {} });
		}
		called += "method" in message && message.method === "tools/call" ? 1 : 0;
	};
	const responses: ServerResponse[] = [];
	const server = createServer(async (request, response) => {
		responses.push(response);
		response.on("error", (error) => errors.push(error));
		const body = await readText(request);
		await transport.handle(request, response, body === "" ? undefined : JSON.parse(body));
	});
	t.after(() => transport.close());
	const port = await listen(t, server);
	const send = (method: "GET" | "POST", message?: object): Promise<IncomingMessage> =>
		new Promise((resolve, reject) => {
			const accept = method === "GET" ? "text/event-stream" : "application/json, text/event-stream";
			const headers = { accept, "content-type": "application/json" };
			const request = makeRequest({ port, host: "127.0.0.1", method, headers, agent: false });
			request.on("response", resolve).on("error", reject);
			request.end(message && JSON.stringify({ jsonrpc: "2.0", ...message }));
		});
	await readText(await send("POST", { id: 0, method: "initialize", params: PARAMS }));
	t.mock.timers.enable({ apis: ["setInterval"] });
	const call = async () => {
		const response = send("POST", { id: "call", method: "tools/call", params: { name: "t" } });
		await until(() => called === 1, "the call has arrived");
		return { response };
	};
	const tick = async (count = 1): Promise<void> => {
		for (let at = 0; at < count; at += 1) {
			t.mock.timers.tick(TICK);
			await nextTurn();
		}
	};
	const answer = (text: string) =>
		transport.send({ jsonrpc: "2.0", id: "call", result: { content: [{ type: "text", text }] } });
	const progress = () =>
		transport.send(
			{ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
			{ relatedRequestId: "call" },
		);
	return { transport, responses, errors, send, call, tick, answer, progress };
}

describe("the timer of a session", () => {
	it("leaves an answer alone that has left and is not read: the client gets it when it goes on", async (t) => {
		const { call, answer, tick, errors } = await start(t);
		const { response } = await call();
		await answer(LONG);
		await tick(20);
		assert.equal((await readText(await response)).length > LONG.length, true);
		assert.deepEqual(errors, []);
	});

	it("leaves a stream alone that has ended and is not read", async (t) => {
		const { call, answer, progress, tick, errors } = await start(t);
		const { response } = await call();
		await progress();
		await answer(LONG);
		await tick(20);
		assert.equal((await readText(await response)).length > LONG.length, true);
		assert.deepEqual(errors, []);
	});

	it("leaves a stream alone whose client reads slowly, and progress that comes meanwhile does not end it", async (t) => {
		const { transport, call, answer, progress, tick, errors } = await start(t);
		const { response } = await call();
		const question = { jsonrpc: "2.0" as const, id: 1, method: "elicitation/create", params: { message: LONG } };
		await transport.send(question, { relatedRequestId: "call" });
		await progress();
		await tick(2);
		await answer("done");
		const text = await readText(await response);
		assert.match(text.slice(-200), /"text":"done"/);
		assert.deepEqual(errors, []);
	});

	it("makes a stream of an answer that takes long, and then sends signs of life", async (t) => {
		const { call, answer, tick } = await start(t);
		const { response } = await call();
		await tick(3);
		await answer("done");
		const text = await readText(await response);
		assert.match(text, /^id: .*\ndata: \n\n: keepalive\n\n: keepalive\n\nid: .*\nevent: message\ndata: .*"done"/);
	});

	it("sends signs of life on the stream for the rest, and ends with it", async (t) => {
		const { send, tick, transport } = await start(t);
		const response = await send("GET");
		await tick(2);
		await transport.close(true);
		assert.equal(await readText(response), "retry: 5000\n\n: keepalive\n\n: keepalive\n\n");
		await tick();
	});
});

describe("an answer that cannot be serialized", () => {
	for (const isStream of [false, true]) {
		it(`is told as the error of its call, ${isStream ? "in a stream" : "as JSON"}`, async (t) => {
			const { transport, call, progress, tick, errors } = await start(t);
			const { response } = await call();
			if (isStream) {
				await progress();
			}
			const structuredContent: Record<string, unknown> = {};
			structuredContent.itself = structuredContent;
			await transport.send({ jsonrpc: "2.0", id: "call", result: { structuredContent } });
			await tick(2);
			assert.match(
				await readText(await response),
				/"id":"call","error":\{"code":-32603,"message":"the answer cannot be/,
			);
			assert.deepEqual(errors, []);
		});
	}
});

describe("a client that has lost its stream before the first message", () => {
	it("gets what came meanwhile on the next one, without naming an event", async (t) => {
		const { transport, responses, send } = await start(t);
		const lost = await send("GET");
		lost.on("error", () => {});
		const closed = once(responses.at(-1) as ServerResponse, "close");
		lost.destroy();
		await closed;
		await transport.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "x:missed" } });
		const next = await send("GET");
		await transport.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "x:next" } });
		await transport.close(true);
		assert.deepEqual((await readText(next)).match(/x:\w+/g), ["x:missed", "x:next"]);
	});
});
