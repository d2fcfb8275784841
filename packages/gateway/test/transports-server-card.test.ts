import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { connectClient } from "../testing/gateway.js";
import { startProgram } from "../testing/program.js";

const PUBLIC = { publicUrl: "https://devices.example.com" };
const CARD = "/mcp/server-card";
const CATALOG = "/.well-known/ai-catalog.json";

describe("the server card (SEP-2127)", () => {
	it("is found by the catalog, without a token, and says what the server says later", async (t) => {
		const { base, tokens } = await startProgram(t, PUBLIC);
		await tokens.add({ name: "laptop", kind: "client" });
		const catalog = await fetch(base + CATALOG);
		assert.equal(catalog.headers.get("content-type"), "application/ai-catalog+json");
		assert.deepEqual(await catalog.json(), {
			specVersion: "1.0",
			entries: [
				{
					identifier: "urn:air:devices.example.com:mcp:xs-mcp-gateway",
					type: "application/mcp-server-card+json",
					url: "https://devices.example.com/mcp/server-card",
				},
			],
		});
		const answer = await fetch(base + CARD, { headers: { accept: "application/mcp-server-card+json" } });
		assert.equal(answer.headers.get("content-type"), "application/mcp-server-card+json");
		const { icons, ...card } = (await answer.json()) as { icons: object[]; version: string; description: string };
		const { description } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
		assert.deepEqual(card, {
			$schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
			name: "com.example.devices/xs-mcp-gateway",
			version: card.version,
			title: "xs-mcp gateway",
			description,
			remotes: [
				{
					type: "streamable-http",
					url: "https://devices.example.com/mcp",
					supportedProtocolVersions: [
						"2026-07-28",
						"2025-11-25",
						"2025-06-18",
						"2025-03-26",
						"2024-11-05",
						"2024-10-07",
					],
				},
			],
		});
		assert.ok(description.length <= 100);
		const open = await startProgram(t, {});
		const client = await connectClient(t, new URL(`${open.base}/mcp`), "2025-11-25");
		const { name, version, title, icons: later } = client.getServerVersion() ?? {};
		assert.deepEqual([name, version, title, later], ["xs-mcp-gateway", card.version, "xs-mcp gateway", icons]);
	});

	it("may be read by any page, and is cached", async (t) => {
		const { base } = await startProgram(t, PUBLIC);
		for (const path of [CARD, CATALOG]) {
			const headers = { origin: "https://elsewhere.example" };
			const answer = await fetch(base + path, { headers });
			assert.equal(answer.status, 200);
			assert.equal(answer.headers.get("access-control-allow-origin"), "*");
			assert.equal(answer.headers.get("cache-control"), "public, max-age=3600");
			const known = answer.headers.get("etag") ?? "";
			assert.equal((await fetch(base + path, { headers: { ...headers, "if-none-match": known } })).status, 304);
		}
	});

	it("does not exist if the gateway has no public URL", async (t) => {
		const { base } = await startProgram(t);
		assert.equal((await fetch(base + CATALOG)).status, 404);
		assert.equal((await fetch(base + CARD)).status, 404);
	});
});
