// Sessions of docs/protocol.md, for any device: a virtual one, or a chip in QEMU.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { until } from "../host-test/support/testing.js";
import type { RawBackend } from "./fixtures.js";

/** A device that has just been started, and its backend, which has not heard its hello yet. */
export interface WireDevice {
	readonly backend: RawBackend;
	/** The server's name that it is expected to tell. */
	readonly name: string;
	readonly tools: number;
	readonly audio: boolean;
	readonly maxMessage: number;
	log(): string;
}

/** Reads every page of a device's tools. */
async function listTools(backend: RawBackend, session_id: string): Promise<{ readonly name: string }[]> {
	const tools = [];
	let cursor: string | undefined = "";
	for (let id = 100; cursor !== undefined; id += 1) {
		const { result } = await backend.ask({ id, method: "tools/list", params: { cursor } }, { session_id });
		tools.push(...result.tools);
		cursor = result.nextCursor;
	}
	return tools;
}

export function describeWire(title: string, open: (t: TestContext) => Promise<WireDevice>): void {
	describe(`the wire: ${title}`, () => {
		it("introduces itself, lists its tools and answers a call", async (t) => {
			const { backend, name, tools, audio, maxMessage } = await open(t);
			assert.deepEqual(await backend.greet("abc"), {
				type: "hello",
				version: 1,
				features: { mcp: true, ...(audio && { audio }) },
				transport: "websocket",
				audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 },
				max_message_bytes: maxMessage,
			});
			assert.deepEqual(JSON.parse(await backend.hear()), {
				session_id: "abc",
				type: "mcp",
				payload: {
					jsonrpc: "2.0",
					method: "notifications/state_changed",
					params: { newState: "idle", oldState: "connecting" },
				},
			});
			const { result } = await backend.ask({ id: 1, method: "initialize", params: {} });
			assert.deepEqual([result.protocolVersion, result.serverInfo.name], ["2024-11-05", name]);
			const list = await listTools(backend, "abc");
			assert.deepEqual([list[0]?.name, list.length], ["self.get_device_status", tools]);
			const status = await backend.ask({ id: 3, method: "tools/call", params: { name: "self.get_device_status" } });
			assert.equal(status.result.isError, false);
			assert.equal(typeof JSON.parse(status.result.content[0].text), "object");
			assert.deepEqual(await backend.ask({ id: 3, method: "tools/call", params: { name: "self.non_existent_tool" } }), {
				jsonrpc: "2.0",
				id: 3,
				error: { code: -32601, message: "Unknown tool: self.non_existent_tool" },
			});
		});

		it("keeps its session when it gets messages that are not for it", async (t) => {
			const { backend, maxMessage, log } = await open(t);
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
			backend.say("x".repeat(maxMessage + 1));
			const rejection = await backend.answer();
			assert.equal(rejection.error.code, -32600);
			assert.deepEqual(await backend.ask({ id: "after", method: "ping" }), { jsonrpc: "2.0", id: "after", result: {} });
			for (const line of [
				`message dropped: ${maxMessage + 1} bytes (limit ${maxMessage})`,
				"for another session: dropped",
				"not valid UTF-8",
			]) {
				await until(() => log().includes(line), line);
			}
		});

		it("puts fragments together, cut anywhere in a character", async (t) => {
			const { backend } = await open(t);
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
			const { backend } = await open(t);
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

		it("opens a new session when the backend stops and starts again", async (t) => {
			const { backend, tools, log } = await open(t);
			await backend.greet("one");
			await backend.ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
			backend.stop();
			await until(() => log().includes("next attempt in"), "the device notices");
			backend.restart();
			await backend.greet("two");
			assert.equal((await listTools(backend, "two")).length, tools);
			const unknown = await backend.ask({ id: 3, method: "tools/call", params: { name: "x" } });
			assert.equal(unknown.error.code, -32601, "what was negotiated belongs to the old session");
		});
	});
}
