import assert from "node:assert/strict";
import { it } from "node:test";
import type { Msg } from "@nats-io/transport-node";
import type { Offers } from "xs-mcp-manager/core";
import type { Bus } from "../src/cluster/bus.js";
import { type Entry, subjectsOf } from "../src/cluster/messages.js";
import { RemoteConnection } from "../src/cluster/remote-connection.js";

const ENTRY = {
	id: "a",
	clientId: "b",
	transport: "websocket",
	gateway: "g",
	claim: "c",
	revision: "2025-06-18",
	capabilities: {},
} as unknown as Entry;

/** A connection to a device of another gateway, and what it has published. */
function openRemote() {
	const published: string[] = [];
	const publish = (subject: string): void => void published.push(subject);
	const bus = { connected: true, maxBytes: 1_000, subjects: subjectsOf("x"), publish } as unknown as Bus;
	const connection = new RemoteConnection(ENTRY, {} as Offers, bus, "call", () => {});
	const request = (signal?: AbortSignal) =>
		connection.request({ method: "tools/call", params: { name: "blink", arguments: {} } }, { signal });
	return { connection, published, request };
}

const message = (json: object): Msg => ({ data: Buffer.from(JSON.stringify(json)) }) as unknown as Msg;

it("a request gets the answer that came just before its connection ended", async () => {
	const { connection, published, request } = openRemote();
	const answer = request();
	connection.answered(1, message({ result: { content: [] } }));
	connection.close("the device or its gateway has gone");
	assert.deepEqual(await answer, { content: [] });
	assert.deepEqual(published, ["x.to.g.call"]);
});

it("a request without an answer fails when its connection ends, and its call is forgotten", async () => {
	const { connection, request } = openRemote();
	const failed = assert.rejects(request(), { code: "server-disconnected", message: "a: gone" });
	assert.equal(connection.isWaiting, true);
	connection.close("gone");
	await failed;
	assert.equal(connection.isWaiting, false);
});

it("a cancelled request cancels its call", async () => {
	const { published, request } = openRemote();
	const controller = new AbortController();
	const failed = assert.rejects(request(controller.signal), { code: "cancelled" });
	controller.abort();
	await failed;
	assert.deepEqual(published, ["x.to.g.call", "x.to.g.cancel"]);
});
