import assert from "node:assert/strict";
import type { OutgoingHttpHeaders } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { temporaryFolder, until } from "../../../host-test/support/testing.js";
import { SignIns } from "../src/upstreams/sign-ins.js";
import { plainResult, startPlainUpstream } from "../testing/plain-upstream.js";
import { openServers, serveHttp, serveResults } from "../testing/upstreams.js";

const QUICK = { maxRetries: 100, initialDelay: 1, maxDelay: 1 };

/** A server that refuses every request, and how many it got. */
async function refusing(t: TestContext, status: number, headers: OutgoingHttpHeaders = {}) {
	const asked = { times: 0 };
	const url = await serveHttp(t, (request, response) => {
		asked.times += 1;
		request.resume();
		response.writeHead(status, headers).end("no");
	});
	return { url, asked };
}

describe("a server over HTTP that cannot be used", () => {
	for (const [status, transport] of [
		[401, "http"],
		[403, "http"],
		[401, "sse"],
	] as const) {
		it(`is not asked again if it refuses the credentials (${status}, ${transport})`, async (t) => {
			const [refused, broken] = [await refusing(t, status), await refusing(t, 500)];
			const { add, warnings } = await openServers(t);
			const server = add({ id: "refused", url: refused.url, transport, retryPolicy: QUICK });
			const other = add({ id: "broken", url: broken.url, retryPolicy: QUICK });
			await server.start();
			const { times } = refused.asked;
			await other.start();
			await until(() => broken.asked.times > 20, "one with an internal error is");
			assert.deepEqual([server.status, refused.asked.times], ["error", times]);
			assert.deepEqual(warnings, [], "the status says why");
		});
	}

	it("is not asked again before the time that it names (429)", async (t) => {
		const [busy, broken] = [await refusing(t, 429, { "Retry-After": "3600" }), await refusing(t, 500)];
		const { add } = await openServers(t);
		const server = add({ id: "busy", url: busy.url, retryPolicy: QUICK });
		const other = add({ id: "broken", url: broken.url, retryPolicy: QUICK });
		await server.start();
		assert.equal(server.lastError, "HTTP 429 Too Many Requests: no (try again in 3600 s)");
		await other.start();
		await until(() => broken.asked.times > 20, "one with an internal error is");
		assert.deepEqual([server.status, busy.asked.times], ["error", 1]);
	});

	it("is connected when somebody has signed in", async (t) => {
		const folder = temporaryFolder();
		const url = await serveResults(t, ({ method }, response) => {
			if (response.req.headers.authorization !== "Bearer good") {
				response.writeHead(401).end();
				return undefined;
			}
			return plainResult(method);
		});
		const { add } = await openServers(t, { signIns: { folder, how: "login" } });
		const server = add({ id: "one", url });
		await server.start();
		assert.equal(server.status, "error");
		const tokens = { access_token: "good", token_type: "Bearer" };
		await new SignIns(folder).write("one", { url, client: { client_id: "c" }, tokens });
		await until(() => server.status === "connected", "it is connected");
	});

	it("is found out by a call that it does not answer", async (t) => {
		// Without pings at intervals.
		t.mock.timers.enable({ apis: ["setInterval"] });
		const upstream = await startPlainUpstream(t);
		const { add } = await openServers(t, { pingInterval: 200 });
		const configured = add({ id: "hung", url: upstream.url, retryPolicy: QUICK });
		const server = await configured.connect();
		const [tool] = server.tools;
		assert.ok(tool);
		upstream.hang();
		const call = () => server.call(tool, {}, { principal: "test", timeout: 100 });
		await Promise.all([1, 2, 3].map(async () => await assert.rejects(call(), { code: "timeout" })));
		await until(() => configured.status !== "connected", "the connection has ended");
		assert.equal(configured.lastError, "no response to a ping");
		assert.equal(upstream.methods.filter((method) => method === "ping").length, 1);
	});
});
