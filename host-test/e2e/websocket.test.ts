import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { hasOpus } from "../../toolchain/opus.js";
import { cases } from "../support/scope.js";
import { COMMON_TOOLS } from "../support/tool-counts.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";
import { describeWire } from "./wire-suite.js";

// docs/protocol.md over real sockets, against a backend that is nothing but `ws`.

for (const engine of cases(ENGINES)) {
	describeWire(`a virtual device on ${engine.kind}`, async (t) => {
		const backend = await RawBackend.listen(t);
		const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
		return {
			backend,
			name: "virtual",
			tools: COMMON_TOOLS,
			audio: hasOpus(),
			maxMessage: 65_536,
			log: () => log.join("\n"),
		};
	});

	describe(`WebSocket, firmware on ${engine.kind}`, () => {
		it("connects with its headers", async (t) => {
			const backend = await RawBackend.listen(t);
			const { device } = await startDevice(t, engine, { config: { backend: backend.url, token: "secret" } });
			await backend.greet();
			assert.equal(backend.headers.authorization, "Bearer secret");
			assert.equal(backend.headers["protocol-version"], "1");
			assert.equal(backend.headers["device-id"], device.macAddress);
			assert.match(
				String(backend.headers["client-id"]),
				/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
			);
		});

		it("answers initialize and a call of the protocol document", async (t) => {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url } });
			await backend.greet();
			const capabilities = { vision: { url: "http://127.0.0.1:1/explain", token: "t" } };
			assert.deepEqual(await backend.ask({ id: 1, method: "initialize", params: { capabilities } }), {
				jsonrpc: "2.0",
				id: 1,
				result: {
					protocolVersion: "2024-11-05",
					capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
					serverInfo: { name: "virtual", version: FIRMWARE.version },
				},
			});
			const volume = { name: "self.audio_speaker.set_volume", arguments: { volume: 50 } };
			assert.deepEqual(await backend.ask({ id: 3, method: "tools/call", params: volume }), {
				jsonrpc: "2.0",
				id: 3,
				result: { content: [{ type: "text", text: "true" }], isError: false },
			});
		});
	});
}
