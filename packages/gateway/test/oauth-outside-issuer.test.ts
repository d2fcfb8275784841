import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { generateKeyPair } from "jose";
import { testWith } from "../../../host-test/support/testing.js";
import type { SettingName } from "../src/config/settings.js";
import { ConfigurationError } from "../src/plugin.js";
import { connectClient, REBOOT, SET_VOLUME, STATUS, toolNames, WireDevice } from "../testing/gateway.js";
import { startIssuer } from "../testing/issuer.js";
import { startProgram } from "../testing/program.js";
import { post as postMessage } from "../testing/raw-session.js";

const ORIGIN = "https://gateway.example";
const MCP = `${ORIGIN}/mcp`;
const LIST = { method: "tools/list", params: {} };

/** A gateway with two devices, whose clients have tokens of an issuer outside. */
async function start(t: TestContext, settings: Partial<Record<SettingName, unknown>> = {}) {
	const issuer = await startIssuer(t);
	const gateway = await startProgram(t, { publicUrl: ORIGIN, issuer: issuer.url, ...settings });
	const tools = [SET_VOLUME, REBOOT, STATUS];
	const device = await WireDevice.connect(t, gateway, { tools });
	await WireDevice.connect(t, gateway, { tools, id: "aa:bb:cc:00:00:02" });
	const post = async (token: string | undefined, path = "/mcp", body: object = LIST) => {
		const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
		const response = await postMessage(`${gateway.base}${path}`, body, headers);
		const { error } = (await response.json()) as { error?: { message: string } };
		return { status: response.status, challenge: response.headers.get("www-authenticate") ?? "", error };
	};
	const connect = (token: string, path = "/mcp/lamp_000001") =>
		connectClient(t, new URL(`${gateway.base}${path}`), "2025-11-25", { token });
	/** A token that calls tools. */
	const sign = (claims: object = {}, options = {}) =>
		issuer.sign({ aud: MCP, scope: "devices:control", ...claims }, options);
	return { gateway, issuer, device, post, connect, sign };
}

/** Calls a tool as a request that the gateway may reject. */
function callOf(name: string, args: object = {}) {
	return { method: "tools/call", params: { name, arguments: args } };
}

describe("the type of a token (RFC 9068)", () => {
	it("must be that of an access token: an ID token of the issuer is none", async (t) => {
		const { post, sign } = await start(t, { issuerAudiences: ["the-client"] });
		const claims = { aud: "the-client" };
		const status = async (options: object) => (await post(await sign(claims, options))).status;
		assert.notEqual(await status({}), 401);
		assert.notEqual(await status({ typ: "application/AT+JWT" }), 401);
		assert.deepEqual([await status({ typ: "JWT" }), await status({ typ: undefined })], [401, 401]);
	});

	it("may be another one that the settings name, but not an ID token even then", async (t) => {
		const { post, sign } = await start(t, { issuerTokenTypes: ["JWT"] });
		const status = async (claims: object, options: object) => (await post(await sign(claims, options))).status;
		assert.notEqual(await status({}, { typ: "JWT" }), 401);
		assert.notEqual(await status({}, { typ: undefined }), 401);
		for (const claims of [{ nonce: "n" }, { at_hash: "h" }, { typ: "ID" }]) {
			assert.equal(await status(claims, { typ: "JWT" }), 401, JSON.stringify(claims));
		}
	});
});

const itStarted = testWith(start);

describe("the metadata of a protected resource (RFC 9728)", () => {
	it("is off without publicUrl, and without https", async (t) => {
		for (const settings of [{}, { publicUrl: "http://gateway.example" }, { publicUrl: `${ORIGIN}/below` }]) {
			const { base, tokens } = await startProgram(t, settings);
			await tokens.add({ name: "me", kind: "client" });
			const found = await fetch(`${base}/.well-known/oauth-protected-resource/mcp`);
			assert.equal(found.status, 404);
			const rejected = await fetch(`${base}/mcp`, { method: "POST" });
			assert.equal(rejected.headers.get("www-authenticate"), 'Bearer realm="xs-mcp-gateway"');
			await Promise.all([found.body?.cancel(), rejected.body?.cancel()]);
		}
	});

	it("names the resource as the client spells it, and its authorization server", async (t) => {
		const { gateway, issuer } = await start(t);
		for (const path of ["/mcp", "/mcp/lamp_000001", "/mcp/aa:bb:cc:00:00:01", "/mcp/unknown"]) {
			const response = await fetch(`${gateway.base}/.well-known/oauth-protected-resource${path}`);
			assert.deepEqual(await response.json(), {
				resource: ORIGIN + path,
				authorization_servers: [issuer.url],
				bearer_methods_supported: ["header"],
				scopes_supported: ["devices:read", "devices:control"],
				resource_name: "xs-mcp gateway",
			});
		}
		const response = await fetch(`${gateway.base}/.well-known/oauth-protected-resource`);
		assert.equal(((await response.json()) as { resource: string }).resource, MCP);
	});

	itStarted("is named by the 401, with the scope that the client needs", async ({ post }) => {
		const { status, challenge } = await post(undefined, "/mcp/lamp_000001");
		assert.equal(status, 401);
		assert.equal(
			challenge,
			'Bearer realm="xs-mcp-gateway", scope="devices:control", ' +
				`resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp/lamp_000001"`,
		);
	});
});

describe("a token of an issuer outside", () => {
	itStarted("opens /mcp with its scopes", async ({ connect, sign }) => {
		const read = await connect(await sign({ scope: "openid devices:read" }));
		assert.deepEqual(await toolNames(read), ["self_get_device_status"]);
		const control = await connect(await sign());
		assert.deepEqual(await toolNames(control), ["self_audio_speaker_set_volume", "self_get_device_status"]);
		const all = await connect(await sign({ scope: "devices:user-tools" }));
		assert.equal((await toolNames(all)).length, 3);
	});

	itStarted("is limited to the devices of its scopes", async ({ connect, post, sign }) => {
		const token = await sign({ scope: "devices:control device:aa:bb:cc:00:00:02" });
		assert.equal((await toolNames(await connect(token, "/mcp/lamp_000002"))).length, 2);
		assert.equal((await post(token, "/mcp/lamp_000001")).status, 404);
	});

	it("gets scopes from roles and groups, by the settings", async (t) => {
		const { connect, sign } = await start(t, {
			issuerAudiences: ["api://lamps"],
			issuerClaims: ["realm_access.roles", "https://gateway.example/groups"],
			issuerScopes: { admins: "devices:user-tools", guests: "devices:read device:aa:bb:cc:00:00:01" },
		});
		const ofRole = await sign({ aud: ["account", "api://lamps"], scope: "", realm_access: { roles: ["admins"] } });
		assert.equal((await toolNames(await connect(ofRole))).length, 3);
		const ofGroup = await sign({ aud: "api://lamps", "https://gateway.example/groups": ["x", "guests"] });
		assert.equal((await toolNames(await connect(ofGroup))).length, 1);
	});

	it("is rejected if it is for another resource, forged, expired, not yet valid, or without what it must have", async (t) => {
		const { post, sign, issuer } = await start(t);
		const now = Math.floor(Date.now() / 1_000);
		const { privateKey } = await generateKeyPair("ES256");
		const [head, , signature] = (await sign()).split(".");
		const claims = Buffer.from(JSON.stringify({ iss: issuer.url, sub: "eve", aud: MCP, exp: now + 60 }));
		const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims.toString("base64url")}.`;
		for (const [what, token] of [
			["for another server", await sign({ aud: "https://elsewhere.example/mcp" })],
			["for another path", await sign({ aud: `${ORIGIN}/` })],
			["for one device only", await sign({ aud: `${MCP}/lamp_000001` })],
			["of another issuer", await sign({ iss: "https://elsewhere.example" })],
			["of another key", await sign({}, { key: privateKey })],
			["of an unknown key", await sign({}, { kid: "two" })],
			["with a secret that everyone knows", await sign({}, { key: new Uint8Array(32), alg: "HS256" })],
			["with other claims", `${head}.${claims.toString("base64url")}.${signature}`],
			["not signed", unsigned],
			["expired", await sign({ exp: now - 60 })],
			["not yet valid", await sign({ nbf: now + 600 })],
			["without an end", await sign({}, { without: ["exp"] })],
			["without an audience", await sign({}, { without: ["aud"] })],
			["without a user", await sign({}, { without: ["sub"] })],
		] as const) {
			const { status, challenge } = await post(token);
			assert.equal(status, 401, what);
			assert.match(challenge, /error="invalid_token".*resource_metadata=/, what);
		}
		// The issuer's clock may be a little wrong.
		assert.notEqual((await post(await sign({ exp: now - 5 }))).status, 401);
	});

	itStarted("opens nothing but /mcp", async ({ gateway, sign }) => {
		const headers = { Authorization: `Bearer ${await sign({ scope: "devices:user-tools" })}` };
		for (const path of ["/devices", "/tokens", "/metrics", "/console/session", "/bindings", "/events"]) {
			const response = await fetch(gateway.base + path, { headers });
			assert.equal(response.status, 401, path);
			await response.body?.cancel();
		}
	});

	itStarted("for a device opens only that device", async ({ connect, post, sign }) => {
		const token = await sign({ aud: `${MCP}/lamp_000001` });
		assert.equal((await toolNames(await connect(token))).length, 2);
		assert.equal((await post(token, "/mcp/lamp_000002")).status, 401);
	});

	itStarted("without a scope is answered with the scope that it lacks", async ({ post, sign }) => {
		const { status, challenge } = await post(await sign({ scope: "openid" }));
		assert.equal(status, 403);
		assert.match(challenge, /error="insufficient_scope", .*scope="devices:control", resource_metadata=/);
	});

	itStarted("steps up: a call that it may not make names the scopes that it needs", async ({ device, post, sign }) => {
		const read = await sign({ scope: "devices:read device:aa:bb:cc:00:00:01" });
		const set = callOf("self_audio_speaker_set_volume", { volume: 1 });
		const { status, challenge } = await post(read, "/mcp/lamp_000001", set);
		assert.equal(status, 403);
		assert.match(challenge, /error="insufficient_scope", .*scope="devices:control device:aa:bb:cc:00:00:01"/);
		const kitchen = await post(
			await sign({ scope: `devices:read device:aa:bb:cc:00:00:01 device:厨房` }),
			"/mcp/lamp_000001",
			set,
		);
		assert.match(kitchen.challenge, / device:%E5%8E%A8%E6%88%BF"/);
		const reboot = await post(await sign(), "/mcp/lamp_000001", callOf("self_reboot"));
		assert.match(reboot.challenge, /scope="devices:control devices:user-tools"/);
		assert.notEqual((await post(read, "/mcp/lamp_000001", callOf("unknown"))).status, 403);
		assert.deepEqual(device.calls, []);
	});

	it("cannot be verified while the issuer fails, which is no fault of the client", async (t) => {
		const { issuer, post, sign } = await start(t);
		const token = await sign();
		issuer.failure = 500;
		assert.equal((await post(token)).status, 503);
		issuer.failure = undefined;
		assert.notEqual((await post(token)).status, 503);
	});
});

it("the setting issuer needs a public URL, and then no token of the gateway", async (t) => {
	const wrong = startProgram(t, { issuer: "https://issuer.example" });
	await assert.rejects(wrong, (error: Error) => error instanceof ConfigurationError && /publicUrl/.test(error.message));
	const settings = { issuer: "https://issuer.example", publicUrl: ORIGIN, allowedHosts: ["gateway.example"] };
	const { base } = await startProgram(t, settings);
	const response = await fetch(`${base}/devices`);
	assert.equal(response.status, 401);
	await response.body?.cancel();
});
