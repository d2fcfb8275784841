import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import type { WebSocket } from "ws";
import { cases } from "../host-test/support/scope.js";
import { listenForSockets } from "../host-test/support/testing.js";
import { ENGINES, type Engine, startDevice } from "./fixtures.js";

/** MCP in the envelope of the family, at the backend's side. */
class EnvelopeTransport implements Transport {
	onmessage?: Transport["onmessage"];
	onclose?: () => void;
	readonly #socket: WebSocket;

	constructor(socket: WebSocket) {
		this.#socket = socket;
	}

	async start(): Promise<void> {
		this.#socket.on("message", (data) => {
			const { type, payload } = JSON.parse(String(data));
			if (type === "mcp") {
				this.onmessage?.(payload);
			}
		});
	}

	async send(payload: Parameters<Transport["send"]>[0]): Promise<void> {
		this.#socket.send(JSON.stringify({ session_id: "s-1", type: "mcp", payload }));
	}

	async close(): Promise<void> {
		this.#socket.close();
	}
}

/** Starts the shipped firmware, and returns a client of 2026-07-28 in a backend without `initialize`. */
async function connectClient(t: TestContext, engine: Engine): Promise<Client> {
	const { server, url } = await listenForSockets(t);
	const connected = once(server, "connection") as Promise<[WebSocket]>;
	await startDevice(t, engine, { config: { backend: url } });
	const [socket] = await connected;
	socket.send('{"type":"hello","transport":"websocket","session_id":"s-1","audio_params":{}}');
	const client = new Client(
		{ name: "backend", version: "1.0.0" },
		{ versionNegotiation: { mode: { pin: "2026-07-28" } } },
	);
	await client.connect(new EnvelopeTransport(socket));
	t.after(() => client.close());
	return client;
}

for (const engine of cases(ENGINES)) {
	describe(`the official client of 2026-07-28 in a backend of the family, firmware on ${engine.kind}`, () => {
		it("discovers the device, lists its tools, and calls one", async (t) => {
			const client = await connectClient(t, engine);
			assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
			assert.equal(client.getServerVersion()?.name, "virtual");
			const { tools } = await client.listTools();
			assert.ok(tools.some(({ name }) => name === "self.audio_speaker.set_volume"));
			const result = await client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume: 30 } });
			assert.deepEqual(result.structuredContent, { volume: 30 });
		});

		it("gets the error of a wrong argument with its name", async (t) => {
			const client = await connectClient(t, engine);
			const { content, isError } = await client.callTool({
				name: "self.audio_speaker.set_volume",
				arguments: { volume: 300 },
			});
			assert.equal(isError, true);
			assert.match(JSON.stringify(content), /volume/);
		});
	});
}
