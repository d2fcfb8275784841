import assert from "node:assert/strict";
import { it } from "node:test";
import type { PendingRequest } from "xs-mcp-manager/core";
import { RemoteConnection } from "../../src/cluster/remote-connection.js";

type Entry = ConstructorParameters<typeof RemoteConnection>[0];
type Offers = ConstructorParameters<typeof RemoteConnection>[1];
type Options = ConstructorParameters<typeof RemoteConnection>[2];

const ENTRY = {
	id: "a",
	clientId: "b",
	transport: "websocket",
	gateway: "g",
	claim: "c",
	revision: "2025-06-18",
	capabilities: {},
} as unknown as Entry;

/** A connection to a device of another gateway, and its calls in progress. */
function openRemote() {
	const calls = new Map<string, PendingRequest>();
	const cancelled: string[] = [];
	const options = {
		calls: {
			begin(_target: unknown, request: PendingRequest): string {
				calls.set(`call ${calls.size}`, request);
				return `call ${calls.size - 1}`;
			},
			cancel: (id: string) => cancelled.push(id),
			forget: (id: string) => calls.delete(id),
		},
		onClosed() {},
	};
	const connection = new RemoteConnection(ENTRY, {} as Offers, options as unknown as Options);
	const request = (signal?: AbortSignal) =>
		connection.request({ method: "tools/call", params: { name: "blink", arguments: {} } }, { signal });
	return { connection, calls, cancelled, request };
}

it("a request gets the answer that came just before its connection ended", async () => {
	const { connection, calls, request } = openRemote();
	const answer = request();
	calls.get("call 0")?.answered({ result: { content: [] } });
	connection.close("the device or its gateway has gone");
	assert.deepEqual(await answer, { content: [] });
});

it("a request without an answer fails when its connection ends, and its call is forgotten", async () => {
	const { connection, calls, request } = openRemote();
	const failed = assert.rejects(request(), { code: "server-disconnected", message: "a: gone" });
	connection.close("gone");
	await failed;
	assert.equal(calls.size, 0);
});

it("a cancelled request cancels its call", async () => {
	const { cancelled, request } = openRemote();
	const controller = new AbortController();
	const failed = assert.rejects(request(controller.signal), { code: "cancelled" });
	controller.abort();
	await failed;
	assert.deepEqual(cancelled, ["call 0"]);
});
