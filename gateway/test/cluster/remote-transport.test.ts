import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import type { CallListener } from "../../src/cluster/outgoing-calls.js";
import { RemoteTransport } from "../../src/cluster/remote-transport.js";

type Entry = ConstructorParameters<typeof RemoteTransport>[0];
type Offers = ConstructorParameters<typeof RemoteTransport>[1];
type Options = ConstructorParameters<typeof RemoteTransport>[2];

it("an answer that came before the news that its device has gone arrives before the end of the session", async () => {
	let listener: CallListener | undefined;
	const begin = (_target: unknown, _request: unknown, each: CallListener): string => {
		listener = each;
		return "1";
	};
	const calls = { begin, forget() {} };
	const entry = { id: "a", clientId: "b", transport: "websocket", gateway: "g", claim: "c" } as unknown as Entry;
	const options = { calls, onClosed() {} } as unknown as Options;
	const transport = new RemoteTransport(entry, {} as Offers, options);
	const told: string[] = [];
	const closed = new EventTarget();
	transport.onmessage = (message) => told.push(JSON.stringify(message));
	transport.onclose = () => {
		told.push("closed");
		closed.dispatchEvent(new Event("closed"));
	};
	await transport.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params: {} });
	const end = once(closed, "closed");
	listener?.answer({ v: 1, result: { content: [] } } as unknown as Parameters<CallListener["answer"]>[0]);
	await transport.close("the device or its gateway has gone");
	await end;
	assert.deepEqual(told, ['{"jsonrpc":"2.0","id":7,"result":{"content":[]}}', "closed"]);
});
