import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request as makeRequest } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { listen, until } from "../../../host-test/support/testing.js";
import { Exchange, eventOf } from "../src/transports/exchange.js";
import { connectClient, startGateway } from "../testing/gateway.js";

// The timer of the exchanges and each response that it may meet. The clock is the test's.

const TICK = 15_000;

/** More than both ends of a connection buffer: it waits until the client reads. */
const LONG = "x".repeat(16 * 1024 * 1024);

const CALL = { jsonrpc: "2.0" as const, id: "call", method: "tools/call" };

/** An exchange with a request "call" that was not answered. Its client reads nothing until it is told to. */
async function start(t: TestContext) {
	t.mock.timers.enable({ apis: ["setInterval"] });
	const errors: Error[] = [];
	const exchanges: Exchange[] = [];
	const made: string[] = [];
	const form = {
		headers: {},
		event(_: number, json: string) {
			made.push(json);
			return eventOf(json);
		},
		first: () => ": first\n\n",
		onClose() {},
		onError: (error: Error) => void errors.push(error),
	};
	const server = createServer((request, response) => {
		request.resume();
		response.on("error", (error) => errors.push(error));
		exchanges.push(new Exchange(response, form, [CALL]));
	});
	const port = await listen(t, server);
	const response = new Promise<IncomingMessage>((resolve, reject) => {
		makeRequest({ port, host: "127.0.0.1", agent: false }).on("response", resolve).on("error", reject).end();
	});
	await until(() => exchanges.length === 1, "the request has arrived");
	const exchange = exchanges[0] as Exchange;
	const tick = async (count = 1): Promise<void> => {
		for (let at = 0; at < count; at += 1) {
			t.mock.timers.tick(TICK);
			await nextTurn();
		}
	};
	const answer = (text: string) => exchange.settle(CALL.id, JSON.stringify({ text }));
	return { response, exchange, errors, tick, answer, made };
}

describe("an exchange whose response has ended", () => {
	it("makes no events of late notifications", async (t) => {
		const { response, exchange, answer, made } = await start(t);
		const notification = { jsonrpc: "2.0" as const, method: "notifications/progress" };
		exchange.send(notification);
		answer("done");
		exchange.send(notification);
		await readText(await response);
		assert.equal(made.length, 2);
	});
});

describe("the timer of exchanges", () => {
	it("leaves an answer alone that has left and is not read: the client gets it when it goes on", async (t) => {
		const { response, answer, tick, errors } = await start(t);
		answer(LONG);
		await tick(20);
		assert.equal((await readText(await response)).length > LONG.length, true);
		assert.deepEqual(errors, []);
	});

	it("leaves a stream alone that has ended and is not read", async (t) => {
		const { response, exchange, answer, tick, errors } = await start(t);
		exchange.write(eventOf("progress"));
		answer(LONG);
		await tick(20);
		assert.equal((await readText(await response)).length > LONG.length, true);
		assert.deepEqual(errors, []);
	});

	it("leaves a stream alone whose client reads slowly", async (t) => {
		const { response, exchange, answer, tick, errors } = await start(t);
		exchange.write(eventOf(LONG));
		assert.equal(exchange.isSlow, true);
		await tick(2);
		answer("done");
		const text = await readText(await response);
		assert.match(text.slice(-200), /x\n\nevent: message\ndata: \{"text":"done"/);
		assert.deepEqual(errors, []);
	});

	it("makes a stream of an answer that takes long, and then sends signs of life", async (t) => {
		const { response, answer, tick } = await start(t);
		await tick(3);
		answer("done");
		const text = await readText(await response);
		assert.match(text, /^: first\n\n: keepalive\n\n: keepalive\n\nevent: message\ndata: .*"done"/);
	});

	it("sends signs of life on a stream, and ends with its last request", async (t) => {
		const { response, exchange, tick } = await start(t);
		exchange.write(": first\n\n");
		const stream = await response;
		await tick(2);
		exchange.settle(CALL.id);
		assert.equal(await readText(stream), ": first\n\n: keepalive\n\n: keepalive\n\n");
		await tick();
	});

	it("cuts a response that cannot be written, and reports the error", async (t) => {
		const { response, exchange, tick, errors } = await start(t);
		const failed = assert.rejects(response);
		exchange.write = () => {
			throw new Error("no headers");
		};
		await tick();
		await failed;
		assert.deepEqual(
			errors.map(({ message }) => message),
			["no headers"],
		);
	});
});

it("an answer that cannot be serialized becomes the error of its call", async (t) => {
	const structuredContent: Record<string, unknown> = {};
	structuredContent.itself = structuredContent;
	const side = await startGateway(t);
	const listed = { name: "circle", inputSchema: { type: "object" as const } };
	side.gateway.tools.add(() => [{ listed, call: async () => ({ content: [], structuredContent }) }]);
	const client = await connectClient(t, side.clientUrl(), "2025-11-25");
	await assert.rejects(client.callTool({ name: "circle" }), { code: -32603, message: /the answer cannot be sent/ });
});
