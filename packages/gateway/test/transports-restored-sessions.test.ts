import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { makeSessionIds } from "../src/transports/session-ids.js";
import {
	connectClient,
	LOCAL,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	VOLUME,
	WireDevice,
} from "../testing/gateway.js";
import { makeStateFolder } from "../testing/program.js";
import { openSession, postIn } from "../testing/raw-session.js";
import { readUntil } from "../testing/read-until.js";

// A session that began before the gateway was restarted, or was idle for long, goes on: many hosts never begin another.

const LIST = { method: "tools/list" };
const CALL = { name: VOLUME, arguments: { volume: 1 } };
const STATE = "device://lamp_000001/state";
const OWNER = { access: { principal: "p" }, server: undefined };

async function startTwice(t: TestContext) {
	const options = { sessionKey: "the same", stateFolder: makeStateFolder() };
	const { side: first } = await startWithDevice(t, options);
	const { session } = await openSession(first.clientUrl(), "2025-06-18");
	const restart = async () => {
		await first.close();
		const side = await startGateway(t, options);
		return { side, url: side.clientUrl(), device: await WireDevice.connect(t, side) };
	};
	return { first, session, restart };
}

const stream = (url: URL, session: string, more: Record<string, string> = {}) =>
	fetch(url, { headers: { accept: "text/event-stream", "mcp-session-id": session, ...more } });

const itTwice = testWith(startTwice);

describe("a session after a restart of the gateway", () => {
	itTwice("goes on in its revision and with its client's name", async ({ session, restart }) => {
		const { side, url } = await restart();
		assert.equal((await postIn(url, LIST, session)).status, 200);
		assert.match((await postIn(url, { method: "tools/call", params: CALL }, session)).text, /true/);
		assert.match((await postIn(url, [], session)).text, /2025-06-18 has no JSON-RPC batches|Invalid/);
		const [client] = side.endpoint.clients;
		assert.deepEqual([client?.name, client?.version, client?.principal], ["by-hand", "7", "local"]);
		assert.equal(side.endpoint.clients.length, 1);
	});

	it("is told on its next stream that lists may have changed, whichever event it names", async (t) => {
		const { session, restart } = await startTwice(t);
		const { url, device } = await restart();
		const told = await stream(url, session, { "last-event-id": "0-5" });
		await readUntil(told, /tools\/list_changed[\s\S]*resources\/list_changed[\s\S]*prompts\/list_changed/);
		await postIn(url, LIST, session);
		const next = await stream(url, session);
		device.changeTools([{ ...SET_VOLUME, name: "blink" }]);
		await readUntil(next, /tools\/list_changed/);
	});

	itTwice("is told with the answer to its next call if it has no stream", async ({ session, restart }) => {
		const { url } = await restart();
		const { text } = await postIn(url, { method: "tools/call", params: CALL }, session);
		assert.match(text, /tools\/list_changed[\s\S]*"content"/);
	});

	itTwice("keeps its subscriptions and its log level", async ({ first, session, restart }) => {
		const gone = { method: "resources/subscribe", params: { uri: "device://lamp_000001/nothing" } };
		await postIn(first.clientUrl(), gone, session);
		await postIn(first.clientUrl(), { method: "resources/subscribe", params: { uri: STATE } }, session);
		await postIn(first.clientUrl(), { method: "logging/setLevel", params: { level: "debug" } }, session);
		const { url, device } = await restart();
		const told = await stream(url, session);
		// It may have missed updates.
		assert.doesNotMatch(await readUntil(told, /resources\/updated/), /nothing/);
		const next = await stream(url, session);
		device.notify("notifications/state_changed", { newState: "listening" });
		await readUntil(next, /resources\/updated/);
		await postIn(url, { method: "resources/unsubscribe", params: { uri: STATE } }, session);
	});

	itTwice("is not resumed in the stream of another call than the one that it names", async ({ session, restart }) => {
		const { url } = await restart();
		assert.equal((await stream(url, session, { "last-event-id": "1-1" })).status, 400);
	});

	itTwice("is restored once for requests that come together", async ({ session, restart }) => {
		const { side, url } = await restart();
		const answers = await Promise.all([1, 2, 3, 4].map((id) => postIn(url, { ...LIST, id }, session)));
		const statuses = answers.map(({ status }) => status);
		assert.deepEqual(statuses, [200, 200, 200, 200]);
		assert.equal(side.endpoint.clients.length, 1);
	});

	it("is another token's to nobody, and unknown to a gateway with another key", async (t) => {
		const { session, restart } = await startTwice(t);
		const { side, url } = await restart();
		side.access = { ...LOCAL, holder: "another token of the same name" };
		assert.equal((await postIn(url, LIST, session)).status, 404);
		side.access = LOCAL;
		const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
		const forged = [...last].filter((each) => !session.endsWith(each)).map((each) => session.slice(0, -1) + each);
		for (const id of [...forged, session.slice(1), "x", "a.b.c", "x".repeat(10_000)]) {
			assert.equal((await postIn(url, LIST, id)).status, 404, id);
		}
		const other = await startGateway(t, { sessionKey: "another" });
		assert.equal((await postIn(other.clientUrl(), LIST, session)).status, 404);
	});

	itTwice("that its client has ended stays ended", async ({ session, restart }) => {
		const { url } = await restart();
		const ended = await fetch(url, { method: "DELETE", headers: { "mcp-session-id": session } });
		assert.equal(ended.status, 200);
		assert.equal((await postIn(url, LIST, session)).status, 404);
		assert.equal((await stream(url, session)).status, 404);
	});

	itTwice("needs no session in 2026-07-28", async ({ first, restart }, t) => {
		const stateless = await connectClient(t, first.clientUrl(), "2026-07-28");
		const port = Number(first.clientUrl().port);
		await restart();
		await startGateway(t, { clientPort: port }).then((side) => WireDevice.connect(t, side));
		assert.equal((await stateless.callTool(CALL)).isError, false);
	});
});

describe("an id of a session", () => {
	const params = {
		protocolVersion: "2025-11-25",
		capabilities: {},
		clientInfo: { name: "n".repeat(9_999), version: "1" },
	};

	it("is short enough for a header, whatever its client says", () => {
		const ids = makeSessionIds("key");
		const experimental = { long: { text: "x".repeat(100_000) } };
		const { id } = ids.make(OWNER, { ...params, capabilities: { roots: {}, experimental, sampling: {} } });
		assert.match(id, /^[\x21-\x7e]{1,4096}$/);
		const claims = ids.read(id, OWNER);
		assert.deepEqual(claims?.capabilities, { roots: {}, sampling: {} });
		assert.equal(claims?.name.length, 100);
	});

	it("is never made twice", () => {
		const ids = makeSessionIds("key");
		assert.notEqual(ids.make(OWNER, params).id, ids.make(OWNER, params).id);
	});
});
