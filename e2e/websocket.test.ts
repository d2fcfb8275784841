import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hasOpus } from "xs-mcp/build/opus";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { COMMON_TOOLS } from "../host-test/support/tool-counts.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";
import { replay, XIAOZHI_SERVER, XIAOZHI_SERVER_UNBOUND } from "./recorded-traffic.js";
import { describeWire } from "./wire-suite.js";

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

	describe(`xiaozhi-esp32-server as it was recorded, firmware on ${engine.kind}`, () => {
		it("lists and calls tools, and gets the error of a failed call", async (t) => {
			const backend = await RawBackend.listen(t);
			const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
			await replay(backend, XIAOZHI_SERVER);
			assert.doesNotMatch(log.join("\n"), /dropped|no session/);
		});

		it("shows the code to a device that is not bound", async (t) => {
			const backend = await RawBackend.listen(t);
			const { device } = await startDevice(t, engine, { config: { backend: backend.url } });
			const shown: string[] = [];
			device.on("screen", ({ message }) => shown.push(message));
			await replay(backend, XIAOZHI_SERVER_UNBOUND);
			await until(() => shown.some((message) => message.includes("246810")), "the code is on the screen");
		});
	});
}
