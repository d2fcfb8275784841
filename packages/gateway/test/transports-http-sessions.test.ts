import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { listen, testWith, until } from "../../../host-test/support/testing.js";
import {
	LOCAL,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	type TestGateway,
	VOLUME,
	WireDevice,
} from "../testing/gateway.js";
import { initializeParams, openSession as openRawSession, post, postIn } from "../testing/raw-session.js";
import { readUntil } from "../testing/read-until.js";

// Sessions of the revisions until 2025-11-25, tested with the official SDK's first generation and by hand.

const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams() };
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

const openSession = async ({ clientUrl }: TestGateway, revision?: string): Promise<string> =>
	(await openRawSession(clientUrl(), revision)).session;

/** Opens a stream, in a session of its own or in one whose stream was cut. */
async function openStream(side: TestGateway, given?: string) {
	const session = given ?? (await openSession(side));
	const headers = { accept: "text/event-stream", "mcp-session-id": session };
	const cut = new AbortController();
	const stream = await fetch(side.clientUrl(), { headers, signal: cut.signal });
	assert.equal(stream.status, 200);
	return { session, stream, cut };
}

async function connectV1(test: TestContext, { clientUrl }: TestGateway) {
	const client = new ClientV1({ name: "v1-client", version: "1.0.0" });
	const transport = new TransportV1(clientUrl());
	test.after(() => client.close());
	await client.connect(transport);
	return { client, transport };
}

const names = ({ tools }: { tools: { name: string }[] }): string[] => tools.map(({ name }) => name);

const itGateway = testWith(startGateway);
const itWithDevice = testWith(startWithDevice);

describe("the official SDK's client of the first generation", () => {
	itWithDevice("is told that tools have changed", async ({ side, device }, t) => {
		const { client } = await connectV1(t, side);
		assert.deepEqual(names(await client.listTools()), [VOLUME]);
		let told = 0;
		client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
			told += 1;
		});
		device.changeTools([{ ...SET_VOLUME, name: "blink" }]);
		await until(() => told === 1, "told");
		assert.deepEqual(names(await client.listTools()), ["lamp_000001__blink"]);
		await client.ping();
	});

	itGateway("ends its session", async (side, t) => {
		const { transport } = await connectV1(t, side);
		assert.equal(side.endpoint.clients.length, 1);
		await transport.terminateSession();
		assert.equal(side.endpoint.clients.length, 0);
	});
});

describe("a session", () => {
	itGateway("that is not known is answered 404, so that the client begins a new one", async (side) => {
		assert.equal((await postIn(side.clientUrl(), LIST, "no-session")).status, 404);
		assert.equal((await postIn(side.clientUrl(), LIST)).status, 400, "no session is named");
	});

	itWithDevice("is served only to the token that opened it, on the same path", async ({ side }) => {
		const alice = { ...LOCAL, principal: "alice", holder: "hash-1" };
		side.access = alice;
		const session = await openSession(side);
		assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200);
		assert.equal((await postIn(side.clientUrl("lamp_000001"), LIST, session)).status, 404);
		for (const access of [LOCAL, { ...alice, principal: "bob" }, { ...alice, holder: "hash-2" }]) {
			side.access = access;
			assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 404);
		}
		side.access = alice;
		assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200);
	});

	itWithDevice("goes on with other rights if those of its token have changed", async ({ side }) => {
		const session = await openSession(side);
		assert.doesNotMatch((await postIn(side.clientUrl(), LIST, session)).text, /reboot/);
		side.access = { ...LOCAL, userTools: true };
		assert.match((await postIn(side.clientUrl(), LIST, session)).text, /reboot/);
		assert.equal(side.endpoint.clients.length, 1);
		side.access = { ...LOCAL, devices: new Set() };
		assert.doesNotMatch((await postIn(side.clientUrl(), LIST, session)).text, /set_volume/);
	});

	it("leaves the memory when it was idle for long, but not while a stream is open", async (t) => {
		const side = await startGateway(t, { sessionIdleTimeout: 500 });
		const idle = await openSession(side);
		const { session, cut } = await openStream(side);
		await until(() => side.endpoint.clients.length === 1, "the idle session has ended");
		assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200);
		cut.abort();
		await until(() => side.endpoint.clients.length === 0, "the other is idle now too");
		assert.equal((await postIn(side.clientUrl(), LIST, idle)).status, 200, "its next request restores it");
	});

	it("makes room for a new one if it was idle for longest; sessions in use stay open", async (t) => {
		const side = await startGateway(t, { maxSessions: 2 });
		const used = await openStream(side);
		const first = await openSession(side);
		const second = await openSession(side);
		assert.equal(side.endpoint.clients.length, 2);
		for (const session of [second, used.session, first, second]) {
			assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200);
			assert.equal(side.endpoint.clients.length, 2);
		}
		assert.equal(side.endpoint.clients.length, 2);
		used.cut.abort();
	});

	it("is rejected if the maximum number of sessions is in use", async (t) => {
		const { side, device } = await startWithDevice(t, { maxSessions: 1 }, { onCall: () => undefined });
		const { client } = await connectV1(t, side);
		const call = client.callTool({ name: VOLUME, arguments: { volume: 1 } });
		const failed = assert.rejects(call);
		await until(() => device.calls.length === 1, "the call is under way");
		const params = { ...INITIALIZE.params, clientInfo: { name: "v1-client", version: "1" } };
		assert.equal((await postIn(side.clientUrl(), { ...INITIALIZE, params })).status, 503);
		await client.close();
		await failed;
	});

	it("makes room for a new one if all its responses are lost, whatever its calls still do", async (t) => {
		const { side, device } = await startWithDevice(t, { maxSessions: 1 }, { onCall: () => undefined });
		const session = await openSession(side);
		const cut = new AbortController();
		const call = { method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } };
		const lost = assert.rejects(post(side.clientUrl(), call, { "mcp-session-id": session }, cut.signal));
		await until(() => device.calls.length === 1, "the call is under way");
		cut.abort();
		await lost;
		const newSession = async () => (await postIn(side.clientUrl(), INITIALIZE)).status;
		await until(async () => (await newSession()) === 200, "the session makes room");
	});

	it("makes room for another principal's if its principal has the most, even if it is in use", async (t) => {
		const side = await startGateway(t, { maxSessions: 3 });
		const greedy = [await openStream(side), await openStream(side), await openStream(side)];
		side.access = { ...LOCAL, principal: "other" };
		const other = await openSession(side);
		assert.equal((await postIn(side.clientUrl(), LIST, other)).status, 200);
		side.access = LOCAL;
		const statuses = await Promise.all(
			greedy.map(async ({ session }) => (await postIn(side.clientUrl(), LIST, session)).status),
		);
		assert.deepEqual(statuses, [503, 200, 200]);
		assert.equal((await postIn(side.clientUrl(), INITIALIZE)).status, 503, "its own are all in use");
		for (const { cut } of greedy) {
			cut.abort();
		}
	});

	it("sends to its newest stream: the one before ends, because its client may have disconnected unnoticed", async (t) => {
		const { side, device } = await startWithDevice(t);
		const first = await openStream(side);
		const firstEnds = assert.rejects(first.stream.text());
		const second = await openStream(side, first.session);
		await firstEnds;
		device.changeTools([{ ...SET_VOLUME, name: "blink" }]);
		await readUntil(second.stream, /notifications\/tools\/list_changed/);
		second.cut.abort();
	});

	itGateway("takes batches only in 2025-03-26, the one revision of this transport that has them", async (side) => {
		const batch = [LIST, { ...LIST, id: 3 }];
		for (const revision of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
			const session = await openSession(side, revision);
			const { status, text } = await postIn(side.clientUrl(), batch, session);
			assert.equal(status, 400, revision);
			assert.deepEqual([JSON.parse(text).error.code, JSON.parse(text).id], [-32_600, null]);
			assert.match(text, new RegExp(`${revision} has no JSON-RPC batches`));
		}
		const session = await openSession(side, "2025-03-26");
		const { status, text } = await postIn(side.clientUrl(), batch, session);
		assert.equal(status, 200);
		assert.match(text, /"id":2/);
		assert.match(text, /"id":3/);
	});

	it("rejects a request whose id is in use, and answers the one that came first", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { onCall: () => undefined });
		const session = await openSession(side);
		const call = { ...LIST, method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } };
		const first = postIn(side.clientUrl(), call, session);
		await until(() => device.calls.length === 1, "the call is under way");
		const second = await postIn(side.clientUrl(), call, session);
		assert.deepEqual([second.status, JSON.parse(second.text).error.code], [400, -32_600]);
		assert.match(second.text, /id 2 is already in use/);
		assert.equal((await postIn(side.clientUrl(), { ...LIST, id: "2" }, session)).status, 200, "a text is another id");
		device.answer(device.calls[0]?.id ?? 0, { content: [{ type: "text", text: "done" }] });
		assert.match((await first).text, /"done"/);
		assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200, "the id is free again");
	});

	itGateway("rejects a batch that uses an id twice", async (side) => {
		const session = await openSession(side, "2025-03-26");
		const { status, text } = await postIn(side.clientUrl(), [LIST, LIST], session);
		assert.deepEqual([status, JSON.parse(text).error.code], [400, -32_600]);
		assert.equal((await postIn(side.clientUrl(), LIST, session)).status, 200, "the id is free");
	});

	it("without a stream tells its client with the answer to the next call, and only once", async (t) => {
		const { side, device } = await startWithDevice(t);
		const { session, cut } = await openStream(side);
		cut.abort();
		await postIn(side.clientUrl(), LIST, session);
		const changed = once(side.gateway.servers, "changed");
		device.changeTools([SET_VOLUME, { ...SET_VOLUME, name: "blink" }]);
		await changed;
		const call = { ...LIST, method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } };
		// Until the gateway has noticed that the stream was cut, an answer may come without it.
		let told = await postIn(side.clientUrl(), call, session);
		for (let tries = 0; tries < 50 && !told.text.includes("list_changed"); tries += 1) {
			told = await postIn(side.clientUrl(), call, session);
		}
		assert.match(told.text, /notifications\/tools\/list_changed.*"content"/s);
		const second = await postIn(side.clientUrl(), call, session);
		assert.doesNotMatch(second.text, /list_changed/);
		await postIn(side.clientUrl(), LIST, session);
		assert.doesNotMatch((await postIn(side.clientUrl(), call, session)).text, /list_changed/);
	});

	it("tells its client of a change between two pages of the list", async (t) => {
		const side = await startGateway(t, { catalog: "full" });
		const tools = Array.from({ length: 502 }, (_, at) => ({ ...SET_VOLUME, name: `tool_${at}` }));
		const device = await WireDevice.connect(t, side, { tools });
		const session = await openSession(side);
		await postIn(side.clientUrl(), LIST, session);
		const changed = once(side.gateway.servers, "changed");
		device.changeTools([{ ...SET_VOLUME, name: "blink" }, ...tools]);
		await changed;
		const rest = await postIn(side.clientUrl(), { ...LIST, params: { cursor: "lamp_000001__tool_500" } }, session);
		assert.match(rest.text, /tool_501/);
		const { stream } = await openStream(side, session);
		await readUntil(stream, /notifications\/tools\/list_changed/);
	});

	itGateway("leaves nothing behind if its client has disconnected before it is served", async (side, t) => {
		let isServed = false;
		const server = createServer(async (request, response) => {
			request.resume();
			// It disconnects after the endpoint has looked, and before the session serves it.
			const closed = [true, true, false];
			Object.defineProperty(response, "closed", { get: () => closed.pop() ?? true });
			await side.endpoint.handle(request, response, { access: side.access, server: undefined, body: INITIALIZE });
			response.destroy();
			isServed = true;
		});
		const port = await listen(t, server);
		await assert.rejects(fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "{}" }));
		await until(() => isServed, "the request is served");
		assert.equal(side.endpoint.clients.length, 0);
		assert.equal(side.gateway.servers.listenerCount("changed"), 0);
	});

	itGateway("does not begin with a GET: no stream is offered without a session", async (side) => {
		const response = await fetch(side.clientUrl(), { headers: { accept: "text/event-stream" } });
		assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST"]);
		await response.text();
	});

	itGateway("does not begin for a client that does not accept a stream", async (side) => {
		const rejected = await fetch(side.clientUrl(), {
			method: "POST",
			headers: { "content-type": "application/json", accept: "application/json" },
			body: JSON.stringify(INITIALIZE),
		});
		assert.equal(rejected.status, 406);
		await until(() => side.endpoint.clients.length === 0, "no session is open");
		assert.equal(side.gateway.servers.listenerCount("changed"), 0);
	});

	itGateway("is not opened after an internal error, which the client gets without details", async (side) => {
		side.gateway.catalog = () => {
			throw new Error("catalog broken");
		};
		const { status, text } = await postIn(side.clientUrl(), INITIALIZE);
		assert.equal(status, 500);
		assert.deepEqual(JSON.parse(text).error, { code: -32603, message: "internal error" });
	});
});
