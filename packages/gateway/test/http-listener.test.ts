import assert from "node:assert/strict";
import { on, once } from "node:events";
import { type IncomingMessage, request as makeRequest, type Server, type ServerResponse } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { createHttpServer } from "../src/http/listener.js";

const TIMEOUT = 10_000;
/** 1 MB, in pieces that take six seconds each. */
const PIECE = Buffer.alloc(32_768);
const PIECES = 32;
const PIECE_TIME = 6_000;

/** A server that reads each request whole, and a client's request of 1 MB in progress. Their time is the test's. */
async function upload(t: TestContext, prepare = (_: Server): void => {}) {
	t.mock.timers.enable({ apis: ["setInterval"] });
	const server = createHttpServer(assert.ifError);
	prepare(server);
	const received = new Promise<IncomingMessage>((resolve) =>
		server.on("request", (request: IncomingMessage, response: ServerResponse) => {
			resolve(request);
			request.on("end", () => response.end("whole"));
		}),
	);
	const port = await listen(t, server);
	const headers = { "Content-Length": PIECE.length * PIECES };
	const client = makeRequest({ port, host: "127.0.0.1", method: "POST", headers });
	const answer = new Promise<IncomingMessage>((resolve) => client.on("response", resolve));
	// Of a connection that the server ends.
	client.on("error", () => {});
	client.flushHeaders();
	return { client, answer, request: await received };
}

describe("an HTTP server of the gateway", () => {
	it("receives an upload that takes longer than the time-out, as long as it makes progress", async (t) => {
		const { client, answer, request } = await upload(t);
		let bytes = 0;
		const arriving = on(request, "data");
		for (let sent = PIECE.length; sent <= PIECE.length * PIECES; sent += PIECE.length) {
			client.write(PIECE);
			while (bytes < sent) {
				bytes += ((await arriving.next()).value as [Buffer])[0].length;
			}
			t.mock.timers.tick(PIECE_TIME);
		}
		client.end();
		const response = await answer;
		assert.equal(response.statusCode, 200);
	});

	it("ends a request whose body stops, with status 408", async (t) => {
		const { answer, request } = await upload(t);
		request.resume();
		t.mock.timers.tick(TIMEOUT);
		const response = await answer;
		assert.equal(response.statusCode, 408);
	});

	it("ends a request whose body trickles for a minute, and tells who listens for that", async (t) => {
		const codes: unknown[] = [];
		const { client, request } = await upload(t, (server) =>
			server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
				codes.push(error.code);
				socket.destroy();
			}),
		);
		const closed = new Promise((resolve) => client.once("close", resolve));
		for (let time = TIMEOUT; time <= 60_000; time += TIMEOUT) {
			client.write("x");
			await once(request, "data");
			t.mock.timers.tick(TIMEOUT);
		}
		assert.deepEqual(codes, []);
		client.write("x");
		await once(request, "data");
		t.mock.timers.tick(TIMEOUT);
		await closed;
		assert.deepEqual(codes, ["ERR_HTTP_REQUEST_TIMEOUT"]);
	});
});

/** A server, and the response to a request whose client reads nothing. */
async function unread(t: TestContext, { onError = assert.ifError as (error: Error) => void, stallTime = 1 } = {}) {
	const server = createHttpServer(onError, { stallTime });
	const port = await listen(t, server);
	const client = makeRequest({ port, host: "127.0.0.1" });
	client.on("error", () => {});
	// Without a listener, Node reads it.
	client.on("response", () => {});
	client.end();
	const [, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
	return { client, response };
}

describe("a response", () => {
	it("is cut when nothing of it leaves any more, also when it is complete", async (t) => {
		const { client, response } = await unread(t);
		const answered = once(client, "response") as Promise<[IncomingMessage]>;
		response.end(Buffer.alloc(32 * 1024 * 1024));
		await once(response, "close");
		const [answer] = await answered;
		await assert.rejects(answer.toArray(), { code: "ECONNRESET" });
	});

	it("that has nothing to send yet is not cut", async (t) => {
		const { client, response } = await unread(t);
		await once(response, "timeout");
		response.end("late");
		const [answer] = (await once(client, "response")) as [IncomingMessage];
		assert.equal(answer.statusCode, 200);
	});

	it("that is written to after its end is an error that is told: the server goes on", async (t) => {
		const errors: Error[] = [];
		const { response } = await unread(t, { onError: (error) => errors.push(error), stallTime: TIMEOUT });
		response.end(Buffer.alloc(32 * 1024 * 1024));
		response.write("more");
		await new Promise((resolve) => response.once("close", resolve));
		assert.match(String(errors), /write after end/);
	});
});
