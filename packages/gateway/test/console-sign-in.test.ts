import assert from "node:assert/strict";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { testWith, until } from "../../../host-test/support/testing.js";
import { follow, signIn, startWithConsole, startWithToken, statusOf } from "../testing/console.js";
import { WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson, tokensIn } from "../testing/program.js";
import { openSession, post } from "../testing/raw-session.js";

const itWithToken = testWith(startWithToken);

describe("signing in to the console", () => {
	itWithToken("exchanges a token for a cookie that no script and no other site gets", async (gateway) => {
		assert.equal(await statusOf(`${gateway.base}/console/session`), 401);
		const { set, headers } = await signIn(gateway, gateway.secret);
		assert.match(set, /^xs_mcp_console_[0-9]+=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
		assert.doesNotMatch(set, /xsmcp_/);
		const session = await (await fetch(`${gateway.base}/console/session`, { headers })).json();
		assert.deepEqual([session.principal, session.signedIn, session.operator], ["me", true, false]);
	});

	it("sets a Secure cookie behind a trusted proxy that speaks TLS", async (t) => {
		const stateFolder = makeStateFolder();
		const secret = await tokensIn(stateFolder).add({ name: "me", kind: "client" });
		const { base } = await startWithConsole(t, { trustProxy: ["127.0.0.1"] }, stateFolder);
		const headers = { "X-Forwarded-Proto": "https", Origin: base.replace("http:", "https:") };
		const response = await sendJson("POST", `${base}/console/session`, { token: secret }, headers);
		assert.match(response.headers.get("set-cookie") ?? "", /; Secure;/);
	});

	itWithToken("takes the cookie from the gateway's own page alone", async (gateway) => {
		const { headers } = await signIn(gateway, gateway.secret);
		const { base } = gateway;
		const forget = (more: Record<string, string>) =>
			statusOf(`${base}/devices?offlineSeconds=1`, { method: "DELETE", headers: { ...headers, ...more } });
		assert.equal(await forget({ Origin: base }), 200);
		assert.equal(await forget({}), 401, "without an Origin");
		assert.equal(await forget({ Origin: "http://localhost:1" }), 401, "another page of this machine");
		assert.equal(await forget({ Origin: "https://evil.example" }), 403);
		const read = (more: Record<string, string>) => statusOf(`${base}/devices`, { headers: { ...headers, ...more } });
		assert.equal(await read({}), 200);
		assert.equal(await read({ "Sec-Fetch-Site": "same-site" }), 401);
		const ping = async (more: Record<string, string>) =>
			(await post(`${base}/mcp`, { method: "ping" }, { ...headers, ...more })).status;
		assert.equal(await ping({}), 401);
		assert.notEqual(await ping({ Origin: base }), 401);
	});

	itWithToken("rejects wrong tokens, tokens of devices, other sites, and too many attempts", async (gateway) => {
		const device = await gateway.tokens.add({ name: "lamp", kind: "device" });
		const attempt = async (token: string, Origin = gateway.base) =>
			(await sendJson("POST", `${gateway.base}/console/session`, { token }, { Origin })).status;
		assert.equal(await attempt("xsmcp_wrong"), 401);
		assert.equal(await attempt(device), 401);
		assert.equal(await attempt(gateway.secret, "http://localhost:1"), 403);
		for (let count = 0; count < 18; count += 1) {
			await attempt("xsmcp_wrong");
		}
		assert.equal(await attempt("xsmcp_wrong"), 429);
		assert.equal(await attempt(gateway.secret), 204, "the right one is still accepted");
	});

	itWithToken("ends with the token, and with signing out, streams included", async (gateway, t) => {
		const one = await signIn(gateway, gateway.secret);
		const other = await signIn(gateway, gateway.secret);
		const [first, second] = [await follow(t, gateway, one.headers), await follow(t, gateway, other.headers)];
		const out = { method: "DELETE", headers: { ...one.headers, Origin: gateway.base } };
		assert.equal(await statusOf(`${gateway.base}/console/session`, out), 204);
		await until(() => first.ended, "the stream has ended");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers: one.headers }), 401);
		assert.equal(second.ended, false);
		await gateway.tokens.remove("me");
		await until(() => second.ended, "the other one ends with the token");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers: other.headers }), 401);
	});

	itWithToken("ends at once while the state cannot be saved, and is removed when it can be", async (gateway, t) => {
		const { headers } = await signIn(gateway, gateway.secret);
		const stream = await follow(t, gateway, headers);
		const folder = join(gateway.stateFolder, "store", "console-session");
		renameSync(folder, `${folder}.kept`);
		writeFileSync(folder, "");
		const own = { ...headers, Origin: gateway.base };
		const out = await fetch(`${gateway.base}/console/session`, { method: "DELETE", headers: own });
		assert.equal(out.status, 204);
		assert.match(out.headers.get("set-cookie") ?? "", /^xs_mcp_console_[0-9]+=; Max-Age=0;/);
		await until(() => stream.ended, "the stream has ended");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers }), 401);
		await until(() => gateway.log().includes("the state cannot be saved"), "its removal has failed");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers }), 401);
		rmSync(folder);
		renameSync(`${folder}.kept`, folder);
		await until(() => readdirSync(folder).every((name) => !name.endsWith(".json")), "it is removed");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers }), 401);
	});

	it("lets an operator call user-only tools from the page, and from nowhere else", async (t) => {
		const gateway = await startWithToken(t, { operator: true });
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		const device = await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01", token });
		const { headers } = await signIn(gateway, gateway.secret);
		const params = { name: `${gateway.gateway.servers.all[0]?.alias}__self_reboot`, arguments: {} };
		const reboot = async (more: Record<string, string>): Promise<number> => {
			const { ask } = await openSession(`${gateway.base}/mcp`, undefined, more);
			await ask("tools/call", params);
			return device.calls.length;
		};
		assert.equal(await reboot({ Authorization: `Bearer ${gateway.secret}` }), 0);
		assert.equal(await reboot({ ...headers, Origin: gateway.base }), 1);
	});

	it("outlives a restart of the gateway", async (t) => {
		const first = await startWithToken(t);
		const { headers } = await signIn(first, first.secret);
		await first.gateway.close();
		const { base } = await startWithConsole(t, { httpPort: new URL(first.base).port }, first.stateFolder);
		assert.equal(await statusOf(`${base}/console/session`, { headers }), 200);
	});

	it("ends when the token expires", async (t) => {
		const expires = new Date(Date.now() + 86_400_000).toISOString();
		const gateway = await startWithToken(t, { expires });
		const { headers } = await signIn(gateway, gateway.secret);
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers }), 200);
		t.mock.timers.enable({ apis: ["Date"], now: Date.parse(expires) + 1 });
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers }), 401);
		const Authorization = `Bearer ${gateway.secret}`;
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers: { Authorization } }), 401);
	});
});
