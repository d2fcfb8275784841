import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { openDeviceKey } from "../src/devices/device-key.js";
import { registerClient } from "../src/oauth/clients.js";
import { sendJson } from "../testing/program.js";
import {
	askTokens,
	authorizeUrl,
	Browser,
	beginSignIn,
	makePkce,
	openPage,
	postRegistration,
	REDIRECT,
	register,
	type SignInGateway,
	signIn,
	startSignIn,
	statusOf,
} from "../testing/sign-in.js";

/** Goes on to the page on which the operator chooses. */
async function recognized({ base, operator }: SignInGateway, browser: Browser) {
	const { request } = await browser.open((await beginSignIn(base)).url);
	return await browser.submit({ request, secret: operator, answer: "go" });
}

/** How many lines of each gateway's log were looked at. */
const lookedAt = new WeakMap<SignInGateway["log"], number>();

/** The exchanges that the log reports as failed since it was asked last: client and reason. */
function failuresIn({ log }: SignInGateway): [string, string][] {
	const lines = log().trim().split("\n");
	const from = lookedAt.get(log) ?? 0;
	lookedAt.set(log, lines.length);
	return lines
		.slice(from)
		.map((line) => JSON.parse(line) as { reason?: string; client: string; why: string })
		.filter(({ reason }) => reason === "grant")
		.map(({ client, why }) => [client, why]);
}

const itSignIn = testWith(startSignIn);

describe("signing in withstands", () => {
	it("redirect mix-up: a redirect URI that is not exactly one of the client's is never redirected to", async (t) => {
		const { base } = await startSignIn(t);
		const id = await register(base, {
			redirect_uris: [REDIRECT, "http://127.0.0.1/callback", "cursor://anysphere.cursor-mcp/callback"],
		});
		const status = async (redirect_uri: string) => {
			const url = authorizeUrl(base, id, makePkce().challenge, { redirect_uri });
			const page = await new Browser(base).open(url);
			assert.equal(page.location, undefined);
			return page.status;
		};
		for (const wrong of [
			"https://evil.example/callback",
			"https://client.example/callback/",
			"https://client.example/callback?x",
			"https://client.example/callback/../other",
			"https://client.example.evil.example/callback",
			"https://client.example@evil.example/callback",
			"https://client.example/callback#fragment",
			"http://client.example/callback",
			"HTTPS://client.example/callback",
			"http://127.0.0.1:80@evil.example/callback",
			"http://127.0.0.1/other",
			"http://localhost/callback",
			"https://127.0.0.1/callback",
			"cursor://other.extension/callback",
			"javascript:alert(1)",
			"//evil.example",
		]) {
			assert.equal(await status(wrong), 400, wrong);
		}
		// RFC 8252 section 7.3: an app on this machine listens on whatever port is free.
		for (const right of [
			REDIRECT,
			"http://127.0.0.1/callback",
			"http://127.0.0.1:49152/callback",
			"cursor://anysphere.cursor-mcp/callback",
		]) {
			assert.equal(await status(right), 200, right);
		}
	});

	itSignIn("redirect URIs that run or show something in the browser", async ({ base }) => {
		for (const uri of [
			"javascript:alert(1)",
			"javascript://client.example/%0aalert(1)",
			"JAVASCRIPT://x",
			"data:text/html,x",
			"file:///etc/passwd",
			"blob:https://client.example/1",
			"http://client.example/callback",
			"https://client.example/callback#x",
			"https://user:pass@client.example/",
			"vscode:callback",
			"file://client.example/share",
			"ftp://client.example/callback",
			"ms-msdt://x",
			"ms-msdt:/id",
			"search-ms://query=x",
			"unknown://callback",
			"https://client.example,evil.example/",
			"https://client.example;script-src/",
			"https://*/callback",
			"https://*.example/callback",
			"nothing",
			"",
		]) {
			const response = await postRegistration(base, { client_name: "evil", redirect_uris: [REDIRECT, uri] });
			assert.equal(response.status, 400, uri);
			assert.equal(((await response.json()) as { error: string }).error, "invalid_redirect_uri", uri);
		}
	});

	it("too narrow a rule: redirect URIs with a reverse domain name as the scheme or behind it are registered", async (t) => {
		const { base } = await startSignIn(t);
		for (const uri of [
			"com.example.app:/callback",
			"com.example.app://callback",
			"cursor://anysphere.cursor-mcp/oauth/callback",
			"vscode://vscode.mcp/callback",
			"vscode-insiders://vscode.mcp/callback",
			"windsurf://codeium.windsurf/callback",
			"unheard-of://publisher.extension/callback",
			"https://www.cursor.com/agents/mcp/oauth/callback",
			"https://bücher.example:8443/callback",
			"http://[::1]:1234/callback",
		]) {
			const client = await register(base, { redirect_uris: [uri] });
			const url = authorizeUrl(base, client, makePkce().challenge, { redirect_uri: uri });
			const { status, headers } = await new Browser(base).open(url);
			assert.equal(status, 200, uri);
			assert.doesNotMatch(headers.get("content-security-policy") ?? "", /[,*]/);
		}
	});

	itSignIn("open redirects: a wrong request leads nowhere, whoever registered the client", async ({ base }) => {
		const { clientId: id, challenge, url } = await beginSignIn(base);
		for (const wrong of [
			{ response_type: "token" },
			{ code_challenge: "" },
			{ code_challenge_method: "plain" },
			{ code_challenge_method: "" },
			{ code_challenge: "short" },
			{ resource: "https://elsewhere.example/mcp" },
			{ resource: `${base}/devices` },
			{ state: "x".repeat(3_000) },
			{ client_id: "unknown" },
			{ client_id: `${id.slice(0, -1)}_` },
		] as Record<string, string>[]) {
			const { status, location } = await new Browser(base).open(authorizeUrl(base, id, challenge, wrong));
			assert.deepEqual([status, location], [400, undefined], JSON.stringify(wrong));
		}
		assert.equal((await new Browser(base).open(`${url}&redirect_uri=https://evil.example`)).status, 400);
	});

	itSignIn("code injection: without the verifier, a code is worth nothing", async (gateway) => {
		const { base, operator } = gateway;
		const { clientId: id, challenge, url, exchange } = await beginSignIn(base);
		const wrong: Record<string, Record<string, string>> = {
			"another verifier": { code_verifier: makePkce().verifier },
			"the challenge": { code_verifier: challenge },
			"no verifier": { code_verifier: "" },
			"another redirect URI": { redirect_uri: "https://evil.example/" },
			"another client": { client_id: await register(base, { client_name: "Other" }) },
			"another resource": { resource: `${base}/mcp/lamp_000001` },
			"another server": { resource: "https://elsewhere.example/mcp" },
		};
		const logged: Record<string, string> = {
			"another verifier": "code_verifier does not match code_challenge",
			"the challenge": "code_verifier does not match code_challenge",
			"another redirect URI": "code issued for another redirect_uri",
			"another client": "code of another client: Test Client",
			"another resource": `code issued for another resource: ${base}/mcp`,
		};
		for (const [what, change] of Object.entries(wrong)) {
			const right = exchange(await new Browser(base).approve(url, operator));
			const { status } = await askTokens(base, { ...right, ...change });
			assert.equal(status, 400, what);
			const why = logged[what];
			if (why !== undefined) {
				assert.deepEqual(failuresIn(gateway), [[change.client_id ?? id, why]]);
			}
			assert.ok(!gateway.log().includes(right.code), "the log does not have the code");
		}
		gateway.tokens.refresh();
		assert.equal(gateway.tokens.records.length, 1);
	});

	itSignIn("code replay: a code works once, and its second use ends the sign-in", async (gateway) => {
		const { exchange, access, refresh, clientId } = await signIn(gateway);
		assert.notEqual(await statusOf(gateway.base, access), 401);
		const { status, body } = await askTokens(gateway.base, exchange);
		assert.deepEqual([status, body.error], [400, "invalid_grant"]);
		assert.deepEqual(failuresIn(gateway), [[clientId, "code used before: its sign-in has ended"]]);
		const unknown = await askTokens(gateway.base, { ...exchange, code: "made-up" });
		assert.deepEqual(unknown, { status, body }, "the answer does not say which");
		assert.deepEqual(failuresIn(gateway), [[clientId, "unknown code"]]);
		assert.equal(await statusOf(gateway.base, access), 401);
		const more = { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId };
		assert.equal((await askTokens(gateway.base, more)).status, 400);
	});

	itSignIn("a code that is late", async (gateway, t) => {
		const { base, operator } = gateway;
		const { url, exchange } = await beginSignIn(base);
		const location = await new Browser(base).approve(url, operator);
		t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 60_001 });
		assert.equal((await askTokens(base, exchange(location))).status, 400);
		assert.match(String(failuresIn(gateway)), /,code expired \d s ago$/);
	});

	itSignIn("a stolen refresh token: whoever uses it second ends the sign-in for both", async (gateway, t) => {
		const { refresh, clientId } = await signIn(gateway);
		const use = (refresh_token: string, client_id = clientId) =>
			askTokens(gateway.base, { grant_type: "refresh_token", refresh_token, client_id });
		assert.equal((await use(refresh, await register(gateway.base, { client_name: "thief" }))).status, 400);
		const thief = await use(refresh);
		assert.equal(thief.status, 200);
		t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 30_001 });
		assert.equal((await use(refresh)).status, 400);
		assert.deepEqual(failuresIn(gateway).at(-1), [clientId, "refresh token used before: its sign-in has ended"]);
		assert.equal(await statusOf(gateway.base, thief.body.access_token), 401);
		assert.equal((await use(thief.body.refresh_token)).status, 400);
		gateway.tokens.refresh();
		assert.equal(gateway.tokens.records.length, 1);
	});

	itSignIn("tokens in the wrong place: another audience, another use", async (gateway) => {
		const { base } = gateway;
		const { access, refresh } = await signIn(gateway, {}, { resource: `${base}/mcp/lamp_000001` });
		assert.notEqual(await statusOf(base, access, "/mcp/lamp_000001"), 401);
		assert.equal(await statusOf(base, access, "/mcp/lamp_000002"), 401);
		assert.equal(await statusOf(base, access, "/mcp"), 401);
		const whole = await signIn(gateway, { tools: "control", userTools: "on" });
		// The id of the sign-in in its refresh token is not secret.
		const [id = ""] = whole.refresh.split(".");
		for (const token of [refresh, whole.refresh, id, id.slice("xsmcp_".length)]) {
			assert.equal(await statusOf(base, token), 401);
		}
		for (const path of ["/devices", "/tokens", "/console/session", "/bindings", "/metrics"]) {
			const response = await fetch(base + path, { headers: { Authorization: `Bearer ${whole.access}` } });
			assert.equal(response.status, 401, path);
			await response.body?.cancel();
		}
		const console_ = await sendJson("POST", `${base}/console/session`, { token: whole.access }, { Origin: base });
		assert.equal(console_.status, 401);
		const { browser, ...page } = await openPage(base);
		assert.equal((await browser.submit({ request: page.request, secret: whole.access, answer: "go" })).status, 401);
	});

	it("CSRF on consent: only this page, in this browser, in this gateway, can allow something", async (t) => {
		const gateway = await startSignIn(t);
		const browser = new Browser(gateway.base);
		const { request } = await recognized(gateway, browser);
		const answer = { request, answer: "go", tools: "control" };
		for (const Origin of ["https://evil.example", "null", "http://localhost:1"]) {
			assert.equal((await browser.submit(answer, { Origin })).status, 403, Origin);
		}
		// A request that a stranger began, in the operator's browser; and one that was changed.
		assert.equal((await new Browser(gateway.base).submit(answer)).status, 400);
		assert.equal((await browser.submit({ ...answer, request: `${request.slice(0, -1)}x` })).status, 400);
		const [text = "", code] = request.split(".");
		const changed = Buffer.from(text, "base64url").toString().replace("client.example", "evil00.example");
		const forged = `${Buffer.from(changed).toString("base64url")}.${code}`;
		assert.equal((await browser.submit({ ...answer, request: forged })).status, 400);
		// The first page's request allows nothing yet.
		const first = await browser.open((await beginSignIn(gateway.base)).url);
		assert.equal((await browser.submit({ ...answer, request: first.request })).status, 401);
		assert.ok((await browser.submit(answer)).location);
	});

	itSignIn("an answer that comes too late, and an operator who is one no longer", async (gateway, t) => {
		const browser = new Browser(gateway.base);
		const { request } = await recognized(gateway, browser);
		await gateway.tokens.add({ name: "other", kind: "client" });
		await gateway.tokens.remove("me");
		const answer = { request, answer: "go", tools: "control" };
		assert.equal((await browser.submit(answer)).location, undefined);
		t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 600_001 });
		assert.equal((await browser.submit(answer)).status, 400);
	});

	itSignIn("10,000 registrations: none is stored, and the first still counts", async ({ base, stateFolder }) => {
		const before = readdirSync(stateFolder);
		const first = await register(base, { client_name: "first" });
		// As many on the wire would only cost time: this function answers there.
		const key = openDeviceKey(stateFolder);
		for (let index = 0; index < 10_000; index += 1) {
			assert.ok(registerClient(key, { client_name: `client ${index}`, redirect_uris: [REDIRECT] }));
		}
		const { status } = await new Browser(base).open(authorizeUrl(base, first, makePkce().challenge));
		assert.equal(status, 200);
		const added = readdirSync(stateFolder).filter((name) => !before.includes(name));
		assert.deepEqual(added, []);
	});

	it("many registrations from one address, by the limit of requests", async (t) => {
		const { base } = await startSignIn(t, { maxRequestsPerMinute: 5 });
		const statuses = new Set<number>();
		for (let index = 0; index < 10; index += 1) {
			const response = await postRegistration(base, { redirect_uris: [REDIRECT] });
			statuses.add(response.status);
			await response.body?.cancel();
		}
		assert.deepEqual([...statuses], [201, 429]);
	});

	itSignIn("bodies that are too large, of another type, or malformed", async ({ base }) => {
		const form = "application/x-www-form-urlencoded";
		for (const [path, type, body, status] of [
			["register", "application/json", `"${"x".repeat(20_000)}"`, 413],
			["register", "application/json", "{", 400],
			["register", "application/json", "null", 400],
			["register", form, "a=b", 415],
			["register", "application/json", JSON.stringify({ redirect_uris: Array(11).fill(REDIRECT) }), 400],
			["register", "application/json", JSON.stringify({ redirect_uris: [] }), 400],
			["token", form, `code=${"x".repeat(20_000)}`, 413],
			["token", "application/json", "{}", 415],
			["token", form, "", 400],
			["token", form, "grant_type=password&client_id=x", 401],
			["revoke", form, `token=${"x".repeat(20_000)}`, 413],
			["authorize", form, `request=${"x".repeat(70_000)}`, 413],
			["authorize", form, "request=x.y", 400],
		] as const) {
			const headers = { "Content-Type": type, Origin: base };
			const response = await fetch(`${base}/oauth/${path}`, { method: "POST", headers, body });
			assert.equal(response.status, status, `${path} ${type} ${body.slice(0, 40)}`);
			await response.body?.cancel();
		}
	});
});
