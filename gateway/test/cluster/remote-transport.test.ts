import assert from "node:assert/strict";
import { it } from "node:test";
import { Session } from "xs-mcp-manager/core";
import type { CallListener } from "../../src/cluster/outgoing-calls.js";
import { RemoteTransport } from "../../src/cluster/remote-transport.js";

type Entry = ConstructorParameters<typeof RemoteTransport>[0];
type Offers = ConstructorParameters<typeof RemoteTransport>[1];
type Options = ConstructorParameters<typeof RemoteTransport>[2];

const ENTRY = {
	id: "a",
	clientId: "b",
	transport: "websocket",
	gateway: "g",
	claim: "c",
	revision: "2025-06-18",
} as Entry;
const ANSWER = { v: 1, result: { content: [] } } as unknown as Parameters<CallListener["answer"]>[0];

/** A session with a device of another gateway, whose answers the test gives. */
function openRemote(): { readonly transport: RemoteTransport; readonly answer: () => void } {
	let listener: CallListener | undefined;
	const begin = (_target: unknown, _request: unknown, each: CallListener): string => {
		listener = each;
		return "1";
	};
	const calls = { begin, forget() {} };
	const transport = new RemoteTransport(ENTRY, {} as Offers, { calls, onClosed() {} } as unknown as Options);
	return { transport, answer: () => listener?.answer(ANSWER) };
}

it("an answer that came before the news that its device has gone arrives before the session ends, at once", async () => {
	const { transport, answer } = openRemote();
	const told: string[] = [];
	transport.onmessage = (message) => told.push(JSON.stringify(message));
	transport.onclose = () => told.push("closed");
	await transport.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params: {} });
	answer();
	void transport.close("the device or its gateway has gone");
	assert.deepEqual(told, ['{"jsonrpc":"2.0","id":7,"result":{"content":[]}}', "closed"]);
});

it("a request gets the answer that came just before its session ended", async () => {
	const { transport, answer } = openRemote();
	const session = new Session(transport);
	const onSent = (): void => {
		answer();
		session.close("the device or its gateway has gone");
	};
	const result = await session.request("tools/call", { name: "blink", arguments: {} }, { onSent });
	assert.deepEqual(result.content, []);
});
