import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { openPage, whyNoChromium } from "../../host-test/support/chromium.js";
import { listen, temporaryFolder } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { startGateway, untilKnown } from "../gateway-process.js";
import { findPeer } from "./peers.js";

const TYPES: Readonly<Record<string, string>> = {
	".html": "text/html",
	".js": "text/javascript",
	".json": "application/json",
	".css": "text/css",
};

const { title, folder = "", skip } = findPeer("XIAOZHI_SERVER");

async function servePage(t: TestContext): Promise<string> {
	const root = join(folder, "main", "digital-human");
	const server = createServer(async ({ url = "/" }, response) => {
		const path = join(root, normalize(new URL(url, "http://page").pathname));
		const file = await readFile(path).catch(() => undefined);
		response.writeHead(file === undefined ? 404 : 200, { "content-type": TYPES[extname(path)] ?? "image/png" });
		response.end(file);
	});
	return `http://127.0.0.1:${await listen(t, server)}/index.html`;
}

describe(title, { skip: skip || whyNoChromium }, () => {
	it("its page for browsers, as a device at our gateway: finds its backend, tools listed, one called", async (t) => {
		const gateway = await startGateway(temporaryFolder(), "--bootstrap", "open");
		t.after(() => gateway.program.stop());
		const page = await openPage(t);
		await page.goto(await servePage(t));
		await page.waitForFunction("window.microphoneAvailable !== undefined");
		await page.evaluate(`document.getElementById("otaUrl").value = "${gateway.base}/xiaozhi/ota/"`);
		await page.evaluate('document.getElementById("dialBtn").click()');
		await untilKnown(gateway, 1);
		const client = await connectOverHttp(`${gateway.base}/mcp`, "2025-11-25");
		t.after(() => client.close());
		const { tools } = await client.listTools();
		const name = tools.find((tool) => tool.name.includes("get_device_status"))?.name ?? "";
		const { content } = await client.callTool({ name, arguments: {} });
		assert.match(JSON.stringify(content), /audio_speaker/);
		t.diagnostic(`${tools.length} tools`);
	});
});
