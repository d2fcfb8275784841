import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { StoreError } from "xs-mcp-manager/core";
import { testWith, until } from "../../../host-test/support/testing.js";
import { withLock } from "../src/config/state-files.js";
import { signIn, startWithConsole, startWithToken, statusOf } from "../testing/console.js";
import { connectClient, LAMP, WireDevice } from "../testing/gateway.js";
import { connect, sendJson, storeIn } from "../testing/program.js";

const itConsole = testWith(startWithConsole);

const DESK = "02:00:00:00:00:02";

interface AuditedRequest {
	readonly status: number;
	readonly change?: { readonly name: string; readonly names?: readonly string[] };
}

const sender =
	(base: string, headers: Record<string, string> = {}) =>
	(method: string, path: string, json?: object) =>
		sendJson(method, base + path, json, { ...headers, Origin: base });

describe("the tokens in the console", () => {
	const asOperator = async (t: TestContext) => {
		const gateway = await startWithToken(t, { operator: true });
		const { headers } = await signIn(gateway, gateway.secret);
		return { ...gateway, headers, send: sender(gateway.base, headers) };
	};

	it("are created, shown once, listed without their secret, and revoked", async (t) => {
		const { base, send, ...gateway } = await asOperator(t);
		await WireDevice.connect(t, gateway, { id: LAMP });
		const created = await send("POST", "/tokens", { name: "kiosk", kind: "client", devices: [LAMP] });
		const { token } = await created.json();
		assert.equal(created.status, 201);
		const headers = { Authorization: `Bearer ${token}` };
		assert.equal(await statusOf(`${base}/devices`, { headers }), 200);
		const list = await (await send("GET", "/tokens")).json();
		const kiosk = list.tokens.find(({ name }: { name: string }) => name === "kiosk");
		assert.deepEqual([kiosk.kind, kiosk.devices, typeof kiosk.lastUsed], ["client", [LAMP], "number"]);
		assert.doesNotMatch(JSON.stringify(list), /xsmcp_|sha256|salt/);
		assert.equal((await send("DELETE", "/tokens/kiosk")).status, 204);
		assert.equal(await statusOf(`${base}/devices`, { headers }), 401);
	});

	it("cannot be changed with a token that is not an operator's", async (t) => {
		const gateway = await startWithToken(t, { userTools: true });
		const Authorization = `Bearer ${gateway.secret}`;
		for (const method of ["GET", "POST"]) {
			assert.equal(await statusOf(`${gateway.base}/tokens`, { method, headers: { Authorization } }), 403);
		}
		const remove = { method: "DELETE", headers: { Authorization } };
		assert.equal(await statusOf(`${gateway.base}/tokens/me`, remove), 403);
		assert.equal(await statusOf(`${gateway.base}/servers/x/restart`, { ...remove, method: "POST" }), 403);
	});

	it("keep their secret when they are edited, and its users get the new rights at once", async (t) => {
		const { base, send, ...gateway } = await asOperator(t);
		await WireDevice.connect(t, gateway, { id: LAMP });
		await WireDevice.connect(t, gateway, { id: DESK });
		const { token } = await (await send("POST", "/tokens", { name: "ci", kind: "client", readOnly: true })).json();
		const headers = { Authorization: `Bearer ${token}` };
		const client = await connect(t, { base }, token);
		assert.equal(
			(await client.listTools()).tools.some(({ name }) => /volume/.test(name)),
			false,
		);
		const events = await fetch(`${base}/events`, { headers });
		const { tokens } = await (await send("GET", "/tokens")).json();
		const { revision } = tokens.find(({ name }: { name: string }) => name === "ci");
		const expires = "2999-01-01T00:00:00.000Z";
		const edit = { kind: "client", devices: [DESK], expires, revision };
		assert.equal((await send("PUT", "/tokens/ci", edit)).status, 204);
		// Its stream ends, as if it were revoked.
		await events.text().catch(() => {});
		const { devices } = await (await fetch(`${base}/devices`, { headers })).json();
		assert.deepEqual(
			devices.map(({ id }: { id: string }) => id),
			[DESK],
		);
		assert.equal(
			(await client.listTools()).tools.some(({ name }) => /volume/.test(name)),
			true,
		);
		const alias = gateway.gateway.servers.find(DESK)?.alias;
		const [, ci] = (await (await send("GET", "/tokens")).json()).tokens;
		assert.deepEqual([ci.devices, ci.names, ci.expires, ci.readOnly], [[DESK], [alias], expires, undefined]);
		const { entries } = await (await send("GET", "/audit")).json();
		const change = { name: "ci", kind: "client", expires, names: [alias] };
		assert.deepEqual([entries[0].request, entries[0].change], ["PUT /tokens/ci", change]);
	});

	it("end no answer with an edit that removes no right, and none with an edit without a change", async (t) => {
		const { base, send, ...gateway } = await asOperator(t);
		const calls: number[] = [];
		const lamp = await WireDevice.connect(t, gateway, { id: LAMP, onCall: ({ id }) => void calls.push(id) });
		await WireDevice.connect(t, gateway, { id: DESK });
		const ci = { name: "ci", kind: "client" };
		const { token } = await (await send("POST", "/tokens", { ...ci, devices: [LAMP] })).json();
		const client = await connect(t, { base }, token);
		const [{ name = "" } = {}] = (await client.listTools()).tools.filter((tool) => /volume/.test(tool.name));
		const called = client.callTool({ name, arguments: { volume: 3 } });
		await until(() => calls.length === 1, "the call runs");
		const events = await fetch(`${base}/events`, { headers: { Authorization: `Bearer ${token}` } });
		let hasEnded = false;
		void events
			.text()
			.catch(() => {})
			.then(() => (hasEnded = true));
		const written: string[] = [];
		gateway.gateway.store.watch("token/", (key) => written.push(key));
		const edit = async (rights: object): Promise<void> => {
			const { tokens } = await (await send("GET", "/tokens")).json();
			const { revision } = tokens.find((each: { name: string }) => each.name === "ci");
			assert.equal((await send("PUT", "/tokens/ci", { kind: "client", revision, ...rights })).status, 204);
		};
		await edit({ devices: [LAMP], operator: false });
		assert.deepEqual(written, []);
		await edit({ devices: [LAMP], expires: "2999-01-01T00:00:00Z" });
		await edit({ devices: [DESK, LAMP], userTools: true });
		assert.deepEqual(written, ["token/ci", "token/ci"]);
		// The gateway has looked for answers to end once it has ended that of a token which was removed.
		const gone = await gateway.tokens.add({ name: "gone", kind: "client" });
		const other = await fetch(`${base}/events`, { headers: { Authorization: `Bearer ${gone}` } });
		await gateway.tokens.remove("gone");
		await other.text().catch(() => {});
		lamp.answer(calls[0] as number, { content: [{ type: "text", text: "done" }] });
		assert.deepEqual((await called).content, [{ type: "text", text: "done" }]);
		assert.equal(hasEnded, false);
		await edit({ devices: [DESK], userTools: true });
		await until(() => hasEnded, "the stream ends with a right");
	});

	it("are recorded in the audit log once they are created or edited, with few of their devices", async (t) => {
		const { send } = await asOperator(t);
		const devices = Array.from({ length: 1_000 }, (_, at) => `${"x".repeat(100)}${at}`);
		const token = { name: "boards", kind: "device", devices };
		assert.equal((await send("POST", "/tokens", token)).status, 409);
		assert.equal((await send("POST", "/tokens", { ...token, name: "x".repeat(10_000), yes: true })).status, 400);
		assert.equal((await send("POST", "/tokens", { ...token, yes: true })).status, 201);
		const { entries } = await (await send("GET", "/audit")).json();
		assert.deepEqual(
			entries.slice(0, 3).map(({ status, change }: AuditedRequest) => [status, change?.name, change?.names?.length]),
			[
				[201, "boards", 11],
				[400, undefined, undefined],
				[409, undefined, undefined],
			],
		);
		assert.equal(entries[0].change.names[10], "+990");
	});

	it("are not edited over a newer edit, nor those that no operator made", async (t) => {
		const { send, tokens } = await asOperator(t);
		await tokens.add({ name: "ci", kind: "client" });
		await tokens.bind(LAMP, "secret", "salt");
		const list = (await (await send("GET", "/tokens")).json()).tokens;
		const [, { revision }, bound] = list;
		assert.equal((await send("PUT", "/tokens/ci", { kind: "client", readOnly: true, revision })).status, 204);
		const second = await send("PUT", "/tokens/ci", { kind: "client", microphone: true, revision });
		assert.equal(second.status, 409);
		assert.match((await second.json()).error.message, /^revision: .*changed meanwhile/);
		for (const [name, kind] of [
			[`device:${LAMP}`, "device"],
			["ci", "device"],
			["nobody", "client"],
		]) {
			const refused = await send("PUT", `/tokens/${name}`, { kind, revision: bound.revision, yes: true });
			assert.equal(refused.status, 400);
			assert.match((await refused.json()).error.message, /^unknown token .* that an operator made/);
		}
		tokens.refresh();
		assert.equal(tokens.records.find(({ name }) => name === "ci")?.readOnly, true);
	});

	it("end the last operator's access only once the operator has agreed", async (t) => {
		const { send } = await asOperator(t);
		const [{ revision }] = (await (await send("GET", "/tokens")).json()).tokens;
		const edit = { kind: "client", readOnly: true, revision };
		const asked = await send("PUT", "/tokens/me", edit);
		assert.equal(asked.status, 409);
		const { error, question } = await asked.json();
		assert.equal(question.isLastOperator, true);
		assert.match(error.message, /last operator's token.*"yes": true/);
		const expired = { kind: "client", operator: true, expires: "2000-01-01T00:00:00Z", revision, yes: true };
		const refused = await send("PUT", "/tokens/me", expired);
		assert.equal(refused.status, 400);
		assert.match((await refused.json()).error.message, /^expires: expected a time in the future/);
		assert.equal((await send("PUT", "/tokens/me", { ...edit, yes: true })).status, 204);
		assert.equal((await send("GET", "/tokens")).status, 403);
	});

	it("answer an edit with 503 and the reason while the store cannot be written", async (t) => {
		const { send, gateway } = await asOperator(t);
		const [{ revision }] = (await (await send("GET", "/tokens")).json()).tokens;
		const cause = Object.assign(new Error("read-only file system"), { code: "EROFS" });
		t.mock.method(gateway.store, "set", () => Promise.reject(new StoreError("not-written", "token/me", { cause })));
		const refused = await send("PUT", "/tokens/me", { kind: "client", operator: true, userTools: true, revision });
		assert.equal(refused.status, 503);
		assert.match((await refused.json()).error.message, /cannot be saved: EROFS/);
	});

	it("disconnect only the devices that an edit removes", async (t) => {
		const { send, tokens, ...gateway } = await asOperator(t);
		const token = await tokens.add({ name: "boards", kind: "device", devices: [LAMP, DESK] });
		const lamp = await WireDevice.connect(t, gateway, { id: LAMP, token });
		await WireDevice.connect(t, gateway, { id: DESK, token });
		const [, { revision }] = (await (await send("GET", "/tokens")).json()).tokens;
		const edit = { kind: "device", devices: [DESK], revision };
		assert.equal((await send("PUT", "/tokens/boards", edit)).status, 204);
		await lamp.disconnected();
		assert.equal(gateway.gateway.servers.find(DESK)?.online, true);
	});

	it("have to make sense", async (t) => {
		const { send } = await asOperator(t);
		for (const [wrong, field] of [
			[{}, "name"],
			[{ name: "a b", kind: "client" }, "name"],
			[{ name: "me", kind: "client" }, "token me"],
			[{ name: "x", kind: "device", userTools: true, yes: true }, "userTools"],
			[{ name: "x", kind: "device", expires: "2999-01-01T00:00:00Z", yes: true }, "expires"],
			[{ name: "x", kind: "client", operator: true, devices: ["a"] }, "devices"],
			[{ name: "x", kind: "client", operator: true, readOnly: true }, "readOnly"],
			[{ name: "x", kind: "client", microphone: true, readOnly: true }, "microphone"],
			[{ name: "x", kind: "client", expires: "tomorrow" }, "expires"],
			[{ name: "x", kind: "client", expires: "2000-01-01T00:00:00Z" }, "expires"],
		] as const) {
			const response = await send("POST", "/tokens", wrong);
			assert.equal(response.status, 400, JSON.stringify(wrong));
			assert.match((await response.json()).error.message, new RegExp(`^${field}`));
		}
		assert.equal((await send("DELETE", "/tokens/nobody")).status, 400);
	});

	it("for a client name only devices that the gateway knows, by id or by alias", async (t) => {
		const { send, tokens, ...gateway } = await asOperator(t);
		await WireDevice.connect(t, gateway, { id: LAMP });
		const wrong = await send("POST", "/tokens", {
			name: "kiosk",
			kind: "client",
			devices: [LAMP, "02:00:00:00:00:99"],
		});
		assert.equal(wrong.status, 400);
		assert.match((await wrong.json()).error.message, /^devices: unknown device 02:00:00:00:00:99/);
		const { alias } = gateway.gateway.servers.find(LAMP) as { alias: string };
		assert.equal((await send("POST", "/tokens", { name: "kiosk", kind: "client", devices: [alias] })).status, 201);
		tokens.refresh();
		assert.deepEqual(tokens.records.find(({ name }) => name === "kiosk")?.devices, [LAMP]);
	});

	it("for a device that has never connected are created once the operator has seen its id again", async (t) => {
		const { send, tokens } = await asOperator(t);
		await tokens.add({ name: "other", kind: "device" });
		const request = { name: "lamp", kind: "device", devices: [LAMP] };
		const asked = await send("POST", "/tokens", request);
		assert.equal(asked.status, 409);
		assert.deepEqual((await asked.json()).question, {
			isFirst: false,
			isLastOperator: false,
			clients: [],
			devices: [],
			unknown: [LAMP],
		});
		assert.equal((await send("POST", "/tokens", { ...request, yes: true })).status, 201);
	});
});

describe("the first token", () => {
	itConsole("for clients is an operator's", async ({ base, tokens }) => {
		const answer = await sender(base)("POST", "/tokens", { name: "kiosk", kind: "client", yes: true });
		assert.equal(answer.status, 400);
		assert.match((await answer.json()).error.message, /^operator: /);
		assert.equal(tokens.needs("client"), false);
		const answers = { name: "me", kind: "client", operator: true, yes: true };
		assert.equal((await sender(base)("POST", "/tokens", answers)).status, 201);
	});

	itConsole("for clients is created once the operator has agreed to whom it cuts off", async ({ base, tokens }, t) => {
		await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
		const asked = await sender(base)("POST", "/tokens", { name: "me", kind: "client", operator: true });
		assert.equal(asked.status, 409);
		const { error, question } = await asked.json();
		assert.deepEqual(question, {
			isFirst: true,
			isLastOperator: false,
			clients: ["test-client"],
			devices: [],
			unknown: [],
		});
		assert.match(error.message, /every client needs a token.*test-client.*"yes": true/);
		assert.equal(tokens.needs("client"), false);
	});

	it("reaches whoever created it, though its gateway meanwhile disconnects everybody without a token", async (t) => {
		const { base, stateFolder } = await startWithConsole(t);
		const token = { name: "me", kind: "client", operator: true, yes: true };
		const events = await fetch(`${base}/events`);
		// The gateway stores the token once the folder can be locked, and notices meanwhile that clients need one.
		const answer = await withLock(join(stateFolder, "store", "token"), async () => {
			const posted = sender(base)("POST", "/tokens", token);
			await until(async () => (await statusOf(`${base}/healthz`)) === 200, "the request has arrived before this one");
			await storeIn(stateFolder).set("needed/client", true, 0);
			// A client without a token is disconnected.
			await events.text().catch(() => {});
			return { posted };
		});
		assert.equal((await answer.posted).status, 201);
	});

	itConsole("for devices is created once the operator has agreed to whom it cuts off", async (gateway, t) => {
		await WireDevice.connect(t, gateway, { id: LAMP });
		const server = gateway.gateway.servers.find(LAMP);
		const send = sender(gateway.base);
		const asked = await send("POST", "/tokens", { name: "board", kind: "device" });
		assert.equal(asked.status, 409);
		const { question } = await asked.json();
		assert.deepEqual(question, {
			isFirst: true,
			isLastOperator: false,
			clients: [],
			devices: [server?.alias],
			unknown: [],
		});
		assert.equal(gateway.tokens.needs("device"), false);
		assert.equal(server?.online, true);
		assert.equal((await send("POST", "/tokens", { name: "board", kind: "device", yes: true })).status, 201);
	});
});
