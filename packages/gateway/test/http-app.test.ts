import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as makeRequest, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { describe, it } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { announcedHostname } from "../src/devices/announcement.js";
import { makeSourceCheck } from "../src/oauth/request-guard.js";
import { makeStateFolder, startProgram, tokensIn } from "../testing/program.js";

interface Answer {
	readonly status: number | undefined;
	readonly headers: IncomingMessage["headers"];
	readonly body: string;
}

/** One request, with exactly these headers. `fetch` would not let a test choose Host. */
async function ask(
	url: string,
	options: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Iterable<string> } = {},
): Promise<Answer> {
	const { method = "GET", headers = {}, body = "" } = options;
	const request = makeRequest(url, { method, headers, agent: false });
	for (const part of typeof body === "string" ? [body] : body) {
		request.write(part);
	}
	request.end();
	const [response] = (await once(request, "response")) as [IncomingMessage];
	const text = await readText(response);
	return { status: response.statusCode, headers: response.headers, body: text };
}

const JSON_TYPE = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const MEGABYTE = "x".repeat(1024 * 1024);

const itProgram = testWith(startProgram);

describe("the gateway's HTTP server", () => {
	it("listens beyond loopback with tokens, and needs one from every client", async (t) => {
		const stateFolder = makeStateFolder();
		const secret = await tokensIn(stateFolder).add({ name: "laptop", kind: "client" });
		const { base, tokens } = await startProgram(t, { httpAddress: "0.0.0.0" }, stateFolder);
		assert.equal((await ask(`${base}/devices`)).status, 401);
		assert.equal((await ask(`${base}/devices`, { headers: { Authorization: `Bearer ${secret}` } })).status, 200);
		await tokens.remove("laptop");
		assert.equal((await ask(`${base}/devices`)).status, 401, "also when the last token is removed");
	});

	it("rejects a Host that is not its own", async (t) => {
		const stateFolder = makeStateFolder();
		const Authorization = `Bearer ${await tokensIn(stateFolder).add({ name: "laptop", kind: "client" })}`;
		const { base, log } = await startProgram(t, { allowedHosts: ["gateway.example"] }, stateFolder);
		// Another machine could answer for the name that a gateway announces outside loopback.
		const announced = `${announcedHostname("http")}.local.:8766`;
		for (const host of ["evil.example", "evil.example:8766", "evil.example.", "127.0.0.1.evil.example", announced]) {
			assert.equal((await ask(`${base}/devices`, { headers: { Authorization, Host: host } })).status, 403, host);
		}
		const own = ["localhost", "localhost.", "localhost.:8766", "127.0.0.1:1", "[::1]:8766", "gateway.example"];
		for (const host of own) {
			assert.equal((await ask(`${base}/devices`, { headers: { Authorization, Host: host } })).status, 200, host);
		}
		assert.match(log(), /"reason":"host"/);
	});

	it("takes the name that it announces, if it listens outside loopback", () => {
		const headers = { host: `${announcedHostname("http")}.local:8766` };
		makeSourceCheck(["0.0.0.0"], [], [])({ url: "/", headers } as IncomingMessage);
	});

	itProgram("rejects a target that is a URL of another host, whatever the Host header says", async ({ base }) => {
		const { host, port } = new URL(base);
		const statusOf = async (target: string): Promise<number | undefined> => {
			const [response] = await once(makeRequest({ port, path: target, headers: { Host: host } }).end(), "response");
			response.resume();
			return response.statusCode;
		};
		for (const target of [
			"http://evil.example/devices",
			"http://evil.example:8766/devices",
			"http://a@evil.example/devices",
		]) {
			assert.equal(await statusOf(target), 403, target);
		}
		assert.equal(await statusOf(`${base}/devices`), 200);
		assert.equal(await statusOf("/devices"), 200);
	});

	it("rejects pages of foreign sites", async (t) => {
		const { base, log } = await startProgram(t, { allowedOrigins: ["app.example"] });
		for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"]) {
			const options = { method: "POST", headers: { ...JSON_TYPE, Origin: origin }, body: PING };
			const { status, headers } = await ask(`${base}/mcp`, options);
			assert.equal(status, 403, origin);
			assert.equal(headers["access-control-allow-origin"], undefined);
		}
		assert.match(log(), /"reason":"origin"/);
	});

	it("lets pages of allowed sites send requests, and read the session's id", async (t) => {
		const { base } = await startProgram(t, { allowedOrigins: ["app.example"] });
		for (const origin of ["https://app.example", "http://localhost:6274"]) {
			const preflight = await ask(`${base}/mcp`, {
				method: "OPTIONS",
				headers: { Origin: origin, "Access-Control-Request-Headers": "authorization,mcp-session-id" },
			});
			assert.equal(preflight.status, 204);
			assert.equal(preflight.headers["access-control-allow-origin"], origin);
			assert.equal(preflight.headers["access-control-allow-headers"], "authorization,mcp-session-id");
			const { headers } = await ask(`${base}/devices`, { headers: { Origin: origin } });
			assert.match(headers["access-control-expose-headers"] as string, /Mcp-Session-Id/);
		}
	});

	itProgram("rejects a wrong token, and logs it without the token", async ({ base, tokens, log }) => {
		const secret = await tokens.add({ name: "laptop", kind: "client" });
		const deviceSecret = await tokens.add({ name: "lamp", kind: "device" });
		for (const authorization of ["Bearer wrong-secret", `Bearer ${deviceSecret}`, `Basic ${secret}`, secret]) {
			const url = `${base}/devices?token=wrong-secret`;
			const { status, headers, body } = await ask(url, { headers: { Authorization: authorization } });
			assert.equal(status, 401);
			assert.match(headers["www-authenticate"] ?? "", /^Bearer /);
			assert.match(body, /xs-mcp-gateway token add NAME --for client/);
			assert.doesNotMatch(body, /wrong-secret|xsmcp_/);
		}
		assert.match(log(), /"reason":"token"/);
		assert.doesNotMatch(log(), /wrong-secret|xsmcp_/);
	});

	itProgram("tells a device at this port where devices connect", async ({ base, deviceUrl }) => {
		const headers = { Connection: "Upgrade", Upgrade: "websocket" };
		for (const path of ["/", "/mcp"]) {
			const { status, body } = await ask(`${base}${path}`, { headers });
			assert.equal(status, 404);
			assert.equal(JSON.parse(body).error.message, `no WebSocket at this port: devices connect to ${deviceUrl}`);
		}
	});

	itProgram("answers /healthz without a token", async ({ base, tokens }) => {
		await tokens.add({ name: "laptop", kind: "client" });
		const { status, body } = await ask(`${base}/healthz`);
		assert.deepEqual([status, JSON.parse(body)], [200, { status: "ok" }]);
		assert.equal((await ask(`${base}/metrics`)).status, 401);
	});

	it("answers 404 below /.well-known/ without a token: there is no OAuth to discover", async (t) => {
		const { base, tokens } = await startProgram(t);
		await tokens.add({ name: "laptop", kind: "client" });
		for (const name of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]) {
			assert.equal((await ask(`${base}/.well-known/${name}`)).status, 404);
		}
		assert.equal((await ask(`${base}/nothing`)).status, 401, "elsewhere strangers do not learn what exists");
	});

	itProgram("serves a path as it is written: dots and backslashes lead nowhere", async ({ base }) => {
		for (const path of [
			"/mcp/%2e%2e/devices",
			"/mcp/../devices",
			"/mcp/%6camp_000001",
			"/mcp//",
			"/mcp/.%2E/devices",
			"/mcp\\..\\devices",
			"/./devices",
		]) {
			const request = makeRequest(base, { path }).end();
			const [response] = (await once(request, "response")) as [IncomingMessage];
			assert.match(`${response.resume().statusCode}`, /^40[04]$/, path);
		}
		assert.equal((await ask(`${base}/devices`)).status, 200);
		assert.equal((await ask(`${base}/devices/no%20device/session`, { method: "DELETE" })).status, 404);
	});

	itProgram("rejects a body of 10 MB, with and without a Content-Length", async ({ base, log }) => {
		const told = { ...JSON_TYPE, "Content-Length": 10 * MEGABYTE.length };
		const untold = { ...JSON_TYPE, "Transfer-Encoding": "chunked" };
		for (const headers of [told, untold]) {
			const { status } = await ask(`${base}/mcp`, { method: "POST", headers, body: Array(10).fill(MEGABYTE) });
			assert.equal(status, 413);
		}
		assert.match(log(), /"reason":"too-large"/);
	});

	itProgram("rejects a body that nests deeper than 100 levels", async ({ base }) => {
		const body = [`{"jsonrpc":"2.0","method":"x","params":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`];
		const { status } = await ask(`${base}/mcp`, { method: "POST", headers: JSON_TYPE, body });
		assert.equal(status, 400);
	});

	it("rejects more requests than an address may make, and says when to try again", async (t) => {
		const { base, log } = await startProgram(t, { maxRequestsPerMinute: 3 });
		const answers = [];
		for (let count = 0; count < 4; count += 1) {
			answers.push(await ask(`${base}/devices`));
		}
		const statuses = answers.map(({ status }) => status);
		assert.deepEqual(statuses, [200, 200, 200, 429]);
		assert.match(answers[3]?.headers["retry-after"] ?? "", /^[1-9][0-9]?$/);
		assert.match(log(), /"reason":"rate"/);
		assert.equal((await ask(`${base}/healthz`)).status, 200, "health checks are not limited");
	});

	it("accepts a valid token from an address that strangers have used up", async (t) => {
		const { base, tokens } = await startProgram(t, { maxRequestsPerMinute: 3, maxWrongTokensPerMinute: 1 });
		const valid = { headers: { Authorization: `Bearer ${await tokens.add({ name: "laptop", kind: "client" })}` } };
		for (let count = 0; count < 6; count += 1) {
			await ask(`${base}/devices`, { headers: { Authorization: "Bearer wrong" } });
		}
		const statuses = [];
		for (let count = 0; count < 4; count += 1) {
			statuses.push((await ask(`${base}/devices`, valid)).status);
		}
		assert.deepEqual(statuses, [200, 200, 200, 429], "a token has a limit of its own");
	});

	it("believes X-Forwarded-For from trusted proxies only", async (t) => {
		const stateFolder = makeStateFolder();
		await tokensIn(stateFolder).add({ name: "laptop", kind: "client" });
		const statusesOf = async (base: string, forwarded: readonly string[]): Promise<(number | undefined)[]> => {
			const statuses = [];
			for (const each of forwarded) {
				const headers = { "X-Forwarded-For": each };
				statuses.push((await ask(`${base}/devices`, { headers })).status);
			}
			return statuses;
		};
		const forwarded = [
			"192.0.2.1",
			"192.0.2.2",
			"192.0.2.1",
			"192.0.2.9, 192.0.2.1",
			"nonsense",
			"192.0.2.3, 10.1.2.3",
		];
		const flags = { maxRequestsPerMinute: 1 };
		const trusting = await startProgram(t, { ...flags, trustProxy: ["127.0.0.0/8", "10.0.0.0/8"] }, stateFolder);
		assert.deepEqual(await statusesOf(trusting.base, forwarded), [401, 401, 429, 429, 401, 401]);
		assert.match(trusting.log(), /"address":"192\.0\.2\.2"/);
		await trusting.gateway.close();
		const other = await startProgram(t, flags, stateFolder);
		assert.deepEqual(await statusesOf(other.base, forwarded.slice(0, 2)), [401, 429]);
	});

	itProgram("keeps an idle connection for longer than reverse proxies do", async ({ base }) => {
		const { headers } = await fetch(`${base}/healthz`);
		assert.equal(headers.get("keep-alive"), "timeout=75");
	});

	itProgram("closes a connection that it rejected, even if the other side never does", async ({ base }) => {
		const { port, hostname } = new URL(base);
		const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
		socket.write("this is not HTTP\r\n\r\n");
		await once(socket.resume(), "end");
		const timer = setInterval(() => socket.write("x"), 50);
		const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
		clearInterval(timer);
		assert.match(error.code ?? "", /^(EPIPE|ECONNRESET)$/);
	});

	it("counts in the log everything that strangers cause", async (t) => {
		const { base, tokens, gateway, log } = await startProgram(t, { maxWrongTokensPerMinute: 1_000 });
		await tokens.add({ name: "laptop", kind: "client" });
		for (let count = 0; count < 60; count += 1) {
			await ask(`${base}/devices`, { headers: { Authorization: "Bearer wrong" } });
		}
		await gateway.close();
		const counts = log()
			.split("\n")
			.filter((line) => line.includes('"reason":"token"'))
			.map((line): number => JSON.parse(line).count ?? 1);
		assert.equal(
			counts.reduce((sum, count) => sum + count, 0),
			60,
		);
	});

	itProgram("says what is wrong with a malformed request", async ({ base }) => {
		const post = { method: "POST", headers: JSON_TYPE };
		const broken = await ask(`${base}/mcp`, { ...post, body: "{" });
		assert.deepEqual([broken.status, JSON.parse(broken.body).error.code], [400, -32_700]);
		assert.equal((await ask(`${base}/mcp`, post)).status, 400, "no body");
		assert.equal((await ask(`${base}/mcp`, { method: "POST", headers: {}, body: PING })).status, 415);
		assert.equal((await ask(`${base}/mcp`, { method: "PUT" })).status, 405);
		assert.equal((await ask(`${base}/mcp/%ff`)).status, 404);
		assert.equal((await ask(`${base}/../etc/passwd`)).status, 404);
		assert.equal((await ask(`${base}/healthz`, { method: "POST" })).status, 405);
		const head = await ask(`${base}/events`, { method: "HEAD" });
		assert.deepEqual([head.status, head.headers.allow], [405, "GET"]);
		const badHost = await ask(base, { headers: { Host: "not a hostname" } });
		assert.deepEqual([badHost.status, JSON.parse(badHost.body).error.code], [400, -32_000]);
	});

	itProgram("survives bytes that are not HTTP", async ({ base, log }) => {
		const { port, hostname } = new URL(base);
		for (const bytes of [
			"\u0016\u0003\u0001",
			"GET /mcp HTTP/9.9\r\n\r\n",
			`GET /${"x".repeat(100_000)} HTTP/1.1\r\n\r\n`,
		]) {
			const socket = connect(Number(port), hostname);
			socket.write(bytes);
			const [answer] = (await once(socket, "data")) as [Buffer];
			assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
			socket.destroy();
		}
		assert.match(log(), /rejected: not HTTP/);
		assert.equal((await ask(`${base}/healthz`)).status, 200);
	});

	itProgram("counts rejected requests by reason", async ({ base }) => {
		await ask(`${base}/nothing`);
		await ask(`${base}/devices`, { headers: { Host: "evil.example" } });
		const { body } = await ask(`${base}/metrics`);
		assert.match(body, /^xs_mcp_gateway_requests_rejected_total\{reason="not-found"\} 1$/m);
		assert.match(body, /^xs_mcp_gateway_requests_rejected_total\{reason="host"\} 1$/m);
	});

	itProgram("ends the streams of a client whose token is removed", async ({ base, tokens }) => {
		const Authorization = `Bearer ${await tokens.add({ name: "laptop", kind: "client" })}`;
		const request = makeRequest(`${base}/events`, { headers: { Authorization }, agent: false }).end();
		const [response] = (await once(request, "response")) as [IncomingMessage];
		assert.equal(response.statusCode, 200);
		const [error] = await Promise.all([once(response.resume(), "error"), tokens.remove("laptop")]);
		assert.match(`${error[0]}`, /aborted/);
	});

	itProgram("sets security headers, on streams too", async ({ base }) => {
		const request = makeRequest(`${base}/events`, { agent: false }).end();
		const [stream] = (await once(request, "response")) as [IncomingMessage];
		request.destroy();
		for (const { headers } of [await ask(`${base}/devices`), stream]) {
			checkSecurityHeaders(headers);
		}
	});
});

function checkSecurityHeaders(headers: IncomingMessage["headers"]): void {
	assert.equal(headers["x-content-type-options"], "nosniff");
	assert.equal(headers["x-frame-options"], "DENY");
	assert.equal(headers["content-security-policy"], "default-src 'none'; frame-ancestors 'none'");
	assert.equal(headers["cache-control"], "no-store");
	assert.equal(headers["x-powered-by"], undefined);
}
