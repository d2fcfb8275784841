// An emulated chip that serves MCP by itself, to the official client. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { connectOverHttp } from "../../e2e/clients.js";
import { freePort, until } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startChip } from "./device.js";

const PORT = 80;
const TOKEN = "a-secret-of-the-test";
const CALLS = 50;

describeChips({ topic: "MCP over HTTP" }, (build) => {
	it(`answers ${CALLS} calls over HTTP, and rejects a client without its token`, async (t) => {
		const port = await freePort();
		const url = `http://127.0.0.1:${port}/mcp`;
		const network = `hostfwd=tcp:127.0.0.1:${port}-:${PORT}`;
		startChip(t, { image: await build(), settings: { http: String(PORT), httpToken: TOKEN }, network });
		await until(async () => (await fetch(url).catch(() => undefined))?.status === 401, "the chip serves MCP");

		const client = await connectOverHttp(url, "2025-11-25", TOKEN);
		t.after(() => client.close());
		const { tools: listed } = await client.listTools();
		assert.ok(listed.some(({ name }) => name === "self.get_device_status"));
		for (let call = 0; call < CALLS; call += 1) {
			const { content, isError } = await client.callTool({ name: "self.get_device_status" });
			assert.ok(!isError);
			const [part] = content;
			assert.deepEqual(JSON.parse(part?.type === "text" ? part.text : "").network, { type: "ethernet" });
		}
	});
});
