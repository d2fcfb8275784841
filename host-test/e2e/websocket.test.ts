import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
	});
}
