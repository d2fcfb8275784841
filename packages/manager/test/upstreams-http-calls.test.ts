import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { connected, initialized, openServers, serveHttp, serveResults } from "../testing/upstreams.js";

const RETRIES = { maxRetries: 2, initialDelay: 1, maxDelay: 1 };

/** A server over HTTP with a tool `pay`, and how often that was carried out. */
async function startPaying(t: TestContext, answerCall: (response: ServerResponse) => void) {
	const paid = { times: 0 };
	let lastId: unknown;
	const url = await serveResults(t, ({ id, method, params }, response) => {
		if (method === "tools/call") {
			paid.times += 1;
			lastId = id;
			answerCall(response);
			return undefined;
		}
		const tools = [{ name: "pay", inputSchema: { type: "object" } }];
		return method === "initialize" ? initialized(params.protocolVersion) : method === "tools/list" ? { tools } : {};
	});
	const { server } = await connected(t, { id: "shop", url, retryPolicy: RETRIES });
	const [pay] = server.tools;
	assert.ok(pay);
	return { paid, call: (args = {}) => server.call(pay, args, { principal: "test" }), lastId: () => lastId };
}

const json = { "Content-Type": "application/json" };
const stream = { "Content-Type": "text/event-stream" };

describe("a request that a server over HTTP refuses", () => {
	const refusals = [
		[401, "permission-denied", "HTTP 401 Unauthorized: token expired"],
		[403, "permission-denied", "HTTP 403 Forbidden: token expired"],
		[500, "server-offline", "HTTP 500 Internal Server Error: token expired"],
	] as const;
	for (const [status, code, reason] of refusals) {
		it(`fails with status and body, in the error and in the status of the server (${status})`, async (t) => {
			const url = await serveHttp(t, (request, response) => {
				request.resume();
				response.writeHead(status, { "Content-Type": "text/plain" }).end("token expired");
			});
			const configured = (await openServers(t)).add({ id: "shut", url });
			await assert.rejects(configured.connect(), { code, message: `Connection failed: ${reason}` });
			assert.equal(configured.lastError, reason);
		});
	}

	it("fails a call with status and body", async (t) => {
		for (const [status, code, message] of [
			[403, "permission-denied", "HTTP 403 Forbidden: not yours"],
			[500, "invalid-result", "tools/call: HTTP 500 Internal Server Error: not yours"],
		] as const) {
			const { call, paid } = await startPaying(t, (response) => void response.writeHead(status).end("not yours"));
			await assert.rejects(call(), { code, message });
			assert.equal(paid.times, 1, "it is not retried");
		}
	});

	it("fails with the error in the answer, and leaves the connection open", async (t) => {
		for (const status of [400, 404, 500]) {
			const { call, paid, lastId } = await startPaying(t, (response) => {
				const error = { code: -32_602, message: "no such account" };
				response.writeHead(status, json).end(JSON.stringify({ jsonrpc: "2.0", id: lastId(), error }));
			});
			await assert.rejects(call(), { code: -32_602, message: "no such account" });
			await assert.rejects(call(), { code: -32_602 });
			assert.equal(paid.times, 2);
		}
	});

	it("fails as permission-denied after HTTP 403, also with an error in the answer", async (t) => {
		const { call, lastId } = await startPaying(t, (response) => {
			const error = { code: -32_000, message: "not yours" };
			response.writeHead(403, json).end(JSON.stringify({ jsonrpc: "2.0", id: lastId(), error }));
		});
		await assert.rejects(call(), { code: "permission-denied", message: /^HTTP 403 Forbidden: .*not yours/ });
	});

	it("fails with the error that answers the handshake", async (t) => {
		const url = await serveResults(t, ({ id }, response) => {
			const error = { code: -32_000, message: "no licence found" };
			response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
			return undefined;
		});
		const configured = (await openServers(t)).add({ id: "unlicensed", url });
		await assert.rejects(configured.connect(), { message: "Connection failed: no licence found" });
	});

	it("fails with the address of a redirect to another server", async (t) => {
		const url = await serveHttp(t, (request, response) => {
			request.resume();
			response.writeHead(301, { Location: "https://example.com/mcp" }).end("moved");
		});
		const configured = (await openServers(t)).add({ id: "moved", url });
		await assert.rejects(configured.connect(), {
			message: /HTTP 301 Moved Permanently: Redirect to https:\/\/example\.com\/mcp not followed/,
		});
	});

	it("fails with the scopes that it lacks, and leaves the connection open", async (t) => {
		const challenge = { "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="shop:pay"' };
		const { call, paid } = await startPaying(t, (response) => void response.writeHead(403, challenge).end());
		const refusal = { code: "permission-denied", message: 'HTTP 403: Insufficient scope: required "shop:pay"' };
		await assert.rejects(call(), refusal);
		await assert.rejects(call(), refusal);
		assert.equal(paid.times, 2);
	});

	it("fails as too many requests, and is made again as the policy says", async (t) => {
		const { call } = await startPaying(
			t,
			(response) => void response.writeHead(429, { "Retry-After": "3600" }).end("slow down"),
		);
		await assert.rejects(call(), {
			code: "retries-exceeded",
			message: "Failed after 2 retries: HTTP 429 Too Many Requests: slow down (try again in 3600 s)",
		});
	});
});

describe("a call over HTTP that may have been carried out is not made again", () => {
	const answers: Record<string, (response: ServerResponse) => void> = {
		"its answer is not JSON": (response) => void response.writeHead(200, json).end("paid"),
		"its answer is not MCP": (response) => void response.writeHead(200, json).end('{"paid":true}'),
		"its answer is too long": (response) =>
			void response.writeHead(200, json).end(JSON.stringify({ result: "x".repeat(11_000_000) })),
		"its answer has another type": (response) =>
			void response.writeHead(200, { "Content-Type": "text/plain" }).end("paid"),
		"its stream ends without an answer": (response) => void response.writeHead(200, stream).end(": paid\n\n"),
		"its stream is cut": (response) =>
			void response.writeHead(200, stream).write(": paid\n\n", () => setImmediate(() => response.destroy())),
	};
	for (const [reason, answer] of Object.entries(answers)) {
		it(`if ${reason}`, async (t) => {
			const { paid, call } = await startPaying(t, answer);
			await assert.rejects(call(), { code: "server-disconnected" });
			assert.equal(paid.times, 1);
		});
	}
});

describe("messages that nest too deep", () => {
	const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

	it("are the server's error at once, and leave the connection open", async (t) => {
		const answer = `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"a":${nested(5_000)}}}}`;
		const { call, paid, lastId } = await startPaying(
			t,
			(response) => void response.writeHead(200, json).end(answer.replace("ID", String(lastId()))),
		);
		for (const times of [1, 2]) {
			await assert.rejects(call(), { code: "invalid-result", message: /nested deeper than 100 levels/ });
			assert.equal(paid.times, times);
		}
	});

	it("are not sent, and leave the connection open", async (t) => {
		const { call, paid } = await startPaying(t, (response) => void response.destroy());
		const deep = { a: JSON.parse(nested(5_000)) };
		await assert.rejects(call(deep), { code: "invalid-arguments", message: /nested deeper than 100 levels/ });
		await assert.rejects(call(deep), { code: "invalid-arguments" });
		assert.equal(paid.times, 0);
	});
});

it("arguments that are not JSON fail the call, and leave the connection open", async (t) => {
	const { call, paid, lastId } = await startPaying(t, (response) => {
		response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id: lastId(), result: { content: [] } }));
	});
	await assert.rejects(call({ amount: 1n }), { code: "invalid-arguments", message: /BigInt/ });
	assert.deepEqual(await call(), { content: [] });
	assert.equal(paid.times, 1);
});
