import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { cases } from "../support/scope.js";
import { COMMON_TOOLS } from "../support/tool-counts.js";
import { until } from "../support/until.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";

// What PROTOCOL says, over real sockets, against a backend that is nothing but `ws`.

for (const engine of cases(ENGINES)) {
	describe(`WebSocket, firmware on ${engine.kind}`, () => {
		it("connects with its headers and says hello first", async (t) => {
			const backend = await RawBackend.listen(t);
			const { device } = await startDevice(t, engine, { config: { backend: backend.url, token: "secret" } });
			assert.deepEqual(await backend.greet(), {
				type: "hello",
				version: 1,
				features: { mcp: true },
				transport: "websocket",
				audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 },
				max_message_bytes: 65_536,
			});
			assert.equal(backend.headers.authorization, "Bearer secret");
			assert.equal(backend.headers["protocol-version"], "1");
			assert.equal(backend.headers["device-id"], device.macAddress);
			assert.match(
				String(backend.headers["client-id"]),
				/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
			);
		});

		it("answers the dialogue of the protocol document", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet("abc");
			assert.deepEqual(JSON.parse(await backend.hear()), {
				session_id: "abc",
				type: "mcp",
				payload: {
					jsonrpc: "2.0",
					method: "notifications/state_changed",
					params: { newState: "idle", oldState: "connecting" },
				},
			});
			const capabilities = { vision: { url: "http://127.0.0.1:1/explain", token: "t" } };
			assert.deepEqual(await backend.ask({ id: 1, method: "initialize", params: { capabilities } }), {
				jsonrpc: "2.0",
				id: 1,
				result: {
					protocolVersion: "2024-11-05",
					capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
					serverInfo: { name: "virtual", version: "0.1.0" },
				},
			});
			const list = await backend.ask({ id: 2, method: "tools/list", params: { cursor: "" } }, { session_id: "abc" });
			assert.equal(list.result.tools[0].name, "self.get_device_status");
			assert.equal(list.result.tools.length, COMMON_TOOLS);
			const volume = { name: "self.audio_speaker.set_volume", arguments: { volume: 50 } };
			assert.deepEqual(await backend.ask({ id: 3, method: "tools/call", params: volume }), {
				jsonrpc: "2.0",
				id: 3,
				result: { content: [{ type: "text", text: "true" }], isError: false },
			});
			assert.deepEqual(await backend.ask({ id: 3, method: "tools/call", params: { name: "self.non_existent_tool" } }), {
				jsonrpc: "2.0",
				id: 3,
				error: { code: -32601, message: "Unknown tool: self.non_existent_tool" },
			});
		});

		it("keeps its session when it gets messages that are not for it", async (t) => {
			const backend = await RawBackend.listen(t);
			const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet();
			for (const text of [
				"",
				"{",
				"[]",
				"5",
				'{"type":5}',
				'{"session_id":"s-1"}',
				'{"type":"nonsense"}',
				'{"type":"mcp"}',
				"[".repeat(9000),
			]) {
				backend.say(text);
			}
			backend.socket.send(randomBytes(500), { binary: true });
			backend.socket.send(Buffer.from([0xc3, 0x28]), { binary: false });
			backend.say({ type: "mcp", session_id: "another", payload: { jsonrpc: "2.0", id: 9, method: "ping" } });
			backend.say("x".repeat(70_000));
			const rejection = await backend.answer();
			assert.equal(rejection.error.code, -32600);
			assert.deepEqual(await backend.ask({ id: "after", method: "ping" }), { jsonrpc: "2.0", id: "after", result: {} });
			assert.match(log.join("\n"), /message dropped: 70000 bytes \(limit 65536\)/);
			assert.match(log.join("\n"), /for another session: dropped/);
			assert.match(log.join("\n"), /not valid UTF-8/);
		});

		it("puts fragments together, cut anywhere in a character", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet();
			const id = "日本語😀".repeat(200);
			const params = { words: id };
			const bytes = Buffer.from(
				JSON.stringify({ type: "mcp", payload: { jsonrpc: "2.0", params, id, method: "ping" } }),
			);
			for (let at = 0; at < bytes.length; at += 7) {
				backend.socket.send(bytes.subarray(at, at + 7), { binary: false, fin: at + 7 >= bytes.length });
			}
			assert.equal((await backend.answer()).id, id);
		});

		it("sends a long list whole, and in order after many requests at once", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet();
			const ids = Array.from({ length: 50 }, (_, at) => at);
			for (const id of ids) {
				backend.say({
					type: "mcp",
					payload: { jsonrpc: "2.0", id, method: "tools/list", params: { withUserTools: true } },
				});
			}
			const digests = new Set<string>();
			for (const id of ids) {
				const answer = await backend.answer();
				assert.equal(answer.id, id);
				digests.add(createHash("sha256").update(JSON.stringify(answer.result)).digest("hex"));
			}
			assert.equal(digests.size, 1);
		});

		it("answers a ping of the WebSocket's", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet();
			const pong = new Promise((resolve) => backend.socket.once("pong", resolve));
			backend.socket.ping("now");
			assert.equal(String(await pong), "now");
		});

		it("opens a new session when the backend stops and starts again", async (t) => {
			const backend = await RawBackend.listen(t);
			const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet("one");
			await backend.ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
			backend.stop();
			await until(() => log.some((line) => line.includes("next attempt in")), "the device notices");
			backend.restart();
			await backend.greet("two");
			const list = await backend.ask({ id: 2, method: "tools/list" }, { session_id: "two" });
			assert.equal(list.result.tools.length, COMMON_TOOLS);
			const unknown = await backend.ask({ id: 3, method: "tools/call", params: { name: "x" } });
			assert.equal(unknown.error.code, -32601, "what was negotiated belongs to the old session");
		});

		it("tries again after a goodbye, and does not answer it", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet("one");
			backend.say({ type: "goodbye", session_id: "one" });
			assert.equal((await nextHello(backend)).type, "hello");
		});
	});
}

/** Hears what is left of the old connection until the new one begins. */
async function nextHello(backend: RawBackend): Promise<Record<string, unknown>> {
	for (;;) {
		const message = JSON.parse(await backend.hear()) as Record<string, unknown>;
		assert.notEqual(message.type, "goodbye");
		if (message.type === "hello") {
			return message;
		}
	}
}
