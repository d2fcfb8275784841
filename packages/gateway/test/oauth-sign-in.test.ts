import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { testWith } from "../../../host-test/support/testing.js";
import { makeSignInCode } from "../src/config/token-store.js";
import { startProgram, storeIn } from "../testing/program.js";
import { openSession } from "../testing/raw-session.js";
import {
	askTokens,
	authorizeUrl,
	Browser,
	beginSignIn,
	makePkce,
	openPage,
	REDIRECT,
	register,
	signIn,
	startSignIn,
	statusOf,
} from "../testing/sign-in.js";

/** The SDK's provider for a program that signs in, in memory. */
class MemoryProvider implements OAuthClientProvider {
	readonly redirectUrl = REDIRECT;
	readonly clientMetadata = { client_name: "SDK", redirect_uris: [REDIRECT] };
	readonly saved: Record<string, unknown> = {};
	sentTo: URL | undefined;
	clientInformation = () => this.saved.client as never;
	tokens = () => this.saved.tokens as never;
	codeVerifier = () => this.saved.verifier as string;
	discoveryState = () => this.saved.discovery as never;
	saveClientInformation(client: unknown): void {
		this.saved.client = client;
	}
	saveTokens(tokens: unknown): void {
		this.saved.tokens = tokens;
	}
	saveCodeVerifier(verifier: string): void {
		this.saved.verifier = verifier;
	}
	saveDiscoveryState(state: unknown): void {
		this.saved.discovery = state;
	}
	redirectToAuthorization(url: URL): void {
		this.sentTo = url;
	}
}

const itSignIn = testWith(startSignIn);

describe("signing in", () => {
	it("goes from a 401 to a session with the official SDK's client, for all devices and for one", async (t) => {
		const gateway = await startSignIn(t);
		for (const path of ["/mcp?catalog=full", "/mcp/lamp_000001"]) {
			const authProvider = new MemoryProvider();
			const url = new URL(gateway.base + path);
			const transport = new StreamableHTTPClientTransport(url, { authProvider });
			await assert.rejects(new Client({ name: "test", version: "1.0.0" }).connect(transport), /Unauthorized/);
			const { sentTo } = authProvider;
			assert.ok(sentTo);
			assert.equal(sentTo.searchParams.get("resource"), gateway.base + url.pathname);
			assert.equal(sentTo.searchParams.get("scope"), "devices:control");
			const location = await new Browser(gateway.base).approve(sentTo.href, gateway.operator);
			await transport.finishAuth(location.searchParams);
			const client = new Client({ name: "test", version: "1.0.0" });
			await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
			const { tools } = await client.listTools();
			assert.equal(tools.length, path === "/mcp/lamp_000001" ? 2 : 5, "on /mcp also tool_call");
			await client.close();
		}
	});

	it("shows who asks and where it leads, in the browser's language, without a device or script", async (t) => {
		const { base } = await startSignIn(t);
		const id = await register(base, { client_name: "<b>Claude</b>\u202e\nDesktop" });
		const url = authorizeUrl(base, id, makePkce().challenge);
		for (const [accept, title] of [
			["en-GB,en;q=0.9", "Allow a client?"],
			["ja", "クライアントを許可しますか？"],
			["fr, zh-CN;q=0.8", "允许此客户端吗？"],
		] as const) {
			const { status, html, headers } = await new Browser(base, { "Accept-Language": accept }).open(url);
			assert.equal(status, 200);
			assert.ok(html.includes(title));
			assert.ok(html.includes("&lt;b&gt;Claude&lt;/b&gt; Desktop"));
			assert.ok(html.includes("client.example"));
			assert.ok(!html.includes("lamp_000001"), "a stranger sees no device");
			assert.doesNotMatch(html, /<script|javascript:/i);
			const policy = headers.get("content-security-policy") ?? "";
			assert.match(
				policy,
				/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/client\.example;/,
			);
			assert.match(headers.get("set-cookie") ?? "", /HttpOnly; SameSite=Strict/);
		}
	});

	it("has user-only tools and the microphone unchecked, whatever the client asks for", async (t) => {
		const { base, operator } = await startSignIn(t);
		const { url } = await beginSignIn(base, { scope: "devices:user-tools devices:microphone" });
		const browser = new Browser(base);
		const first = await browser.open(url);
		const { html } = await browser.submit({ request: first.request, secret: operator, answer: "go" });
		for (const name of ["userTools", "microphone"]) {
			const [, box = ""] = new RegExp(`<input type="checkbox" name="${name}"([^>]*)>`).exec(html) ?? [];
			assert.ok(html.includes(`name="${name}"`) && !box.includes("checked"), `${name}: ${box}`);
		}
	});

	itSignIn("needs a redirect URI from a client that has registered several", async ({ base }) => {
		const open = async (...redirect_uris: string[]) => {
			const url = new URL(authorizeUrl(base, await register(base, { redirect_uris }), makePkce().challenge));
			url.searchParams.delete("redirect_uri");
			return await new Browser(base).open(url.href);
		};
		assert.equal((await open(REDIRECT)).status, 200);
		const several = await open(REDIRECT, "http://127.0.0.1/callback");
		assert.equal(several.status, 400);
		assert.match(several.html, /redirect_uri: required, because this client has several/);
	});

	itSignIn("gives the client what the operator chose, not what it asked for", async (gateway) => {
		const wide = { scope: "devices:user-tools" };
		const lamp: [string, string][] = [
			["tools", "read"],
			["userTools", "on"],
			["devices", "some"],
			["device", "aa:bb:cc:00:00:01"],
		];
		const narrow = await signIn(gateway, lamp, wide);
		assert.equal(narrow.body.scope, "devices:read device:aa:bb:cc:00:00:01");
		assert.equal(await statusOf(gateway.base, narrow.access, "/mcp/lamp_000002"), 404);
		const all = await signIn(gateway, { tools: "control", userTools: "on" });
		assert.equal(all.body.scope, "devices:control devices:user-tools");
		gateway.tokens.refresh();
		const [, first, second] = gateway.tokens.records;
		assert.deepEqual([first?.devices, first?.readOnly, first?.userTools], [["aa:bb:cc:00:00:01"], true, undefined]);
		assert.deepEqual([second?.devices, second?.readOnly, second?.userTools], [undefined, undefined, true]);
	});

	itSignIn("asks again if the chosen devices contradict each other", async ({ base, operator }) => {
		const { browser, ...first } = await openPage(base);
		const second = await browser.submit({ request: first.request, secret: operator, answer: "go" });
		const choices: Record<string, string>[] = [{ devices: "all", device: "aa:bb:cc:00:00:01" }, { devices: "some" }];
		for (const choice of choices) {
			const { status, html } = await browser.submit({ request: second.request, answer: "go", ...choice });
			assert.equal(status, 400);
			assert.match(html, /role="alert">Choose all devices, or at least one\./);
		}
	});

	itSignIn("answers with state and issuer, and a token of an hour", async (gateway) => {
		const { location, body } = await signIn(gateway);
		assert.equal(`${location.origin}${location.pathname}`, REDIRECT);
		assert.equal(location.searchParams.get("state"), "some state");
		assert.equal(location.searchParams.get("iss"), gateway.base);
		assert.equal(body.expires_in, 3_600);
	});

	itSignIn("needs no redirect URI to exchange the code, as OAuth 2.1 has it", async ({ base, operator }) => {
		const { url, exchange } = await beginSignIn(base);
		const { redirect_uri, ...rest } = exchange(await new Browser(base).approve(url, operator));
		assert.equal((await askTokens(base, rest)).status, 200);
	});

	itSignIn("tells the client if the person denies it", async ({ base }) => {
		const { browser, request } = await openPage(base);
		const { location } = await browser.submit({ request, answer: "deny" });
		assert.equal(location?.searchParams.get("error"), "access_denied");
		assert.equal(location?.searchParams.get("iss"), base);
	});

	itSignIn("is approved once, however often the answer is sent", async ({ base, stateFolder }) => {
		const { browser, ...first } = await openPage(base);
		const secret = await makeSignInCode(storeIn(stateFolder));
		const { request } = await browser.submit({ request: first.request, secret, answer: "go" });
		const answer = { request, answer: "go", tools: "control" };
		const pages = await Promise.all(Array.from({ length: 6 }, () => browser.submit(answer)));
		assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 400, 400, 400, 400, 400]);
	});

	itSignIn("is approved by a code of the command line, once", async ({ base, stateFolder }) => {
		const code = await makeSignInCode(storeIn(stateFolder));
		const { url } = await beginSignIn(base);
		const location = await new Browser(base).approve(url, code.toLowerCase());
		assert.ok(location.searchParams.get("code"));
		const browser = new Browser(base);
		const { request } = await browser.open(url);
		assert.equal((await browser.submit({ request, secret: code, answer: "go" })).status, 401);
	});

	itSignIn("is approved by whoever is signed in to the console as an operator", async (gateway) => {
		const browser = new Browser(gateway.base);
		const headers = { Origin: gateway.base, "Content-Type": "application/json" };
		const session = { method: "POST", headers, body: JSON.stringify({ token: gateway.operator }) };
		assert.equal((await browser.open(`${gateway.base}/console/session`, session)).status, 204);
		const { request } = await browser.open((await beginSignIn(gateway.base)).url);
		const { status, html } = await browser.submit({ request, secret: "", answer: "go" });
		assert.equal(status, 200);
		assert.ok(html.includes("lamp_000001"));
	});

	itSignIn("is refused to tokens that are not an operator's", async ({ base, tokens }) => {
		const secret = await tokens.add({ name: "guest", kind: "client", userTools: true });
		const { browser, request } = await openPage(base);
		for (const wrong of [secret, "xsmcp_wrong", ""]) {
			const { status, html } = await browser.submit({ request, secret: wrong, answer: "go" });
			assert.equal(status, 401);
			assert.ok(!html.includes("lamp_000001"));
		}
	});
});

describe("a client that has signed in", () => {
	itSignIn("is listed with the tokens, by its name, and without its secrets", async (gateway) => {
		const { access, refresh } = await signIn(gateway, { tools: "read" });
		const headers = { Authorization: `Bearer ${gateway.operator}` };
		const text = await (await fetch(`${gateway.base}/tokens`, { headers })).text();
		const [, record] = (JSON.parse(text) as { tokens: Record<string, unknown>[] }).tokens;
		assert.match(String(record?.name), /^client:test-client-[0-9a-f]{6}$/);
		assert.deepEqual([record?.client, record?.kind, record?.readOnly], ["Test Client", "client", true]);
		gateway.tokens.refresh();
		const stored = JSON.stringify(gateway.tokens.records);
		for (const secret of [access, refresh, refresh.split(".")[0]?.slice("xsmcp_".length) as string]) {
			assert.ok(!text.includes(secret) && !stored.includes(secret));
		}
		assert.equal(statSync(join(gateway.stateFolder, "store")).mode & 0o777, 0o700);
	});

	itSignIn("is disconnected at once when its record is removed", async (gateway) => {
		const { access, refresh, clientId } = await signIn(gateway);
		const Authorization = `Bearer ${access}`;
		const { session } = await openSession(`${gateway.base}/mcp`, undefined, { Authorization });
		const stream = await fetch(`${gateway.base}/mcp`, {
			headers: { Authorization, Accept: "text/event-stream", "Mcp-Session-Id": session },
		});
		assert.equal(stream.status, 200);
		gateway.tokens.refresh();
		await gateway.tokens.remove(gateway.tokens.records[1]?.name as string);
		assert.equal(await statusOf(gateway.base, access), 401);
		await assert.rejects(stream.text(), "its stream ends");
		const again = await askTokens(gateway.base, {
			grant_type: "refresh_token",
			refresh_token: refresh,
			client_id: clientId,
		});
		assert.deepEqual([again.status, again.body.error], [400, "invalid_grant"]);
	});

	itSignIn("refreshes its tokens, also after the gateway has restarted", async (gateway, t) => {
		const first = await signIn(gateway);
		const ask = (refresh: string) =>
			askTokens(gateway.base, { grant_type: "refresh_token", refresh_token: refresh, client_id: first.clientId });
		const second = await ask(first.refresh);
		assert.equal(second.status, 200);
		assert.equal(await statusOf(gateway.base, first.access), 401);
		assert.notEqual(await statusOf(gateway.base, second.body.access_token), 401);
		await gateway.gateway.close();
		const { port, origin } = new URL(gateway.base);
		await startProgram(t, { publicUrl: origin, httpPort: Number(port) }, gateway.stateFolder);
		assert.notEqual(await statusOf(gateway.base, second.body.access_token), 401);
		const third = await ask(second.body.refresh_token);
		assert.notEqual(await statusOf(gateway.base, third.body.access_token), 401);
	});

	itSignIn("gets the same tokens again if the answer to a refresh was lost", async (gateway) => {
		const { refresh, clientId } = await signIn(gateway);
		const ask = async (token: string) => {
			const given = { grant_type: "refresh_token", refresh_token: token, client_id: clientId };
			const { status, body } = await askTokens(gateway.base, given);
			return { status, access: body.access_token, refresh: body.refresh_token };
		};
		const lost = await ask(refresh);
		const again = await ask(refresh);
		assert.deepEqual([again.status, again], [200, lost]);
		assert.notEqual(await statusOf(gateway.base, again.access), 401);
		const next = await ask(again.refresh);
		assert.equal(next.status, 200);
		assert.equal((await ask(refresh)).status, 400, "its successor was used");
	});

	itSignIn("can end the sign-in itself (RFC 7009)", async (gateway) => {
		for (const which of ["access", "refresh"] as const) {
			const signed = await signIn(gateway);
			const revoke = (client_id: string, token: string) =>
				fetch(`${gateway.base}/oauth/revoke`, { method: "POST", body: new URLSearchParams({ client_id, token }) });
			assert.equal((await revoke("another", signed[which])).status, 200);
			assert.notEqual(await statusOf(gateway.base, signed.access), 401);
			assert.equal((await revoke(signed.clientId, signed[which])).status, 200);
			assert.equal(await statusOf(gateway.base, signed.access), 401);
		}
		gateway.tokens.refresh();
		const names = gateway.tokens.records.map(({ name }) => name);
		assert.deepEqual(names, ["me"]);
	});
});
