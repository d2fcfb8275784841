import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bundle } from "xs-mcp-virtual-device";
import { cases } from "../host-test/support/scope.js";
import { freePort, until } from "../host-test/support/testing.js";
import { ENGINES, EVERYTHING, startDevice } from "./fixtures.js";

const everything = await bundle(EVERYTHING);

const text = (result: object): unknown => (result as { content: { text?: unknown }[] }).content[0]?.text;

for (const engine of cases(ENGINES)) {
	describe(`a virtual device without a gateway, firmware on ${engine.kind}`, () => {
		async function open(t: TestContext, script?: string) {
			const port = await freePort();
			const { log } = await startDevice(t, engine, { config: { http: port }, script });
			await until(() => log.some((line) => line.startsWith("serving MCP")), "the device serves MCP");
			return { url: new URL(`http://127.0.0.1:${port}/mcp`) };
		}

		async function meet(t: TestContext, url: URL, options: object = {}): Promise<Client> {
			const client = new Client({ name: "test", version: "1" }, options);
			t.after(() => client.close());
			await client.connect(new StreamableHTTPClientTransport(url));
			return client;
		}

		for (const [revision, mode] of [
			["2025-11-25", "legacy"],
			["2026-07-28", "auto"],
		] as const) {
			it(`lists and calls tools for the official client of ${revision}`, async (t) => {
				const { url } = await open(t);
				const client = await meet(t, url, { versionNegotiation: { mode } });
				assert.equal(client.getNegotiatedProtocolVersion(), revision);
				assert.equal(client.getServerVersion()?.name, "virtual");
				assert.ok((await client.listTools()).tools.length >= 5);
				const result = await client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume: 30 } });
				assert.equal(text(result), '{"volume":30}');
			});
		}

		it("serves calls while a client listens, and lets no other client listen", async (t) => {
			const { url } = await open(t, everything);
			const options = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
			const [one, other] = [await meet(t, url, options), await meet(t, url, options)];
			await one.listen({ toolsListChanged: true });
			await assert.rejects(other.listen({ toolsListChanged: true }), /Too many subscriptions/);
			assert.match(String(text(await other.callTool({ name: "test_simple_text" }))), /simple text/);
		});

		it("answers ten calls at once: it serves three at a time, and seven wait", async (t) => {
			const { url } = await open(t);
			const client = await meet(t, url);
			const volumes = Array.from({ length: 10 }, (_, volume) => volume);
			const results = await Promise.all(
				volumes.map((volume) => client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume } })),
			);
			assert.deepEqual(
				results.map(text),
				volumes.map((volume) => JSON.stringify({ volume })),
			);
		});

		it("streams progress, and asks the client within a call", async (t) => {
			const { url } = await open(t, everything);
			const client = await meet(t, url, { capabilities: { sampling: {} } });
			client.setRequestHandler("sampling/createMessage", async () => ({
				role: "assistant",
				model: "m",
				content: { type: "text", text: "Paris" },
			}));
			const reports: number[] = [];
			const onprogress = ({ progress }: { progress: number }): number => reports.push(progress);
			await client.callTool({ name: "test_tool_with_progress" }, { onprogress });
			assert.deepEqual(reports, [0, 50, 100]);
			const sampled = await client.callTool({ name: "test_sampling", arguments: { prompt: "Capital?" } });
			assert.equal(text(sampled), "LLM response: Paris");
		});
	});
}
