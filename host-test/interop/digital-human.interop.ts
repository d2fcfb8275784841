import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { connectOverHttp } from "../e2e/clients.js";
import { startGateway, untilKnown } from "../e2e/gateway-process.js";
import { Program } from "../e2e/program.js";
import { listen } from "../support/listen.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/until.js";
import { findPeer } from "./peers.js";

const CHROMIUM = process.env.CHROMIUM ?? "";

const FLAGS = [
	"--headless",
	"--no-sandbox",
	"--disable-gpu",
	"--disable-background-networking",
	"--no-first-run",
	"--remote-debugging-port=0",
	"--autoplay-policy=no-user-gesture-required",
];

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

async function browse(t: TestContext, url: string): Promise<(expression: string) => Promise<unknown>> {
	const args = [...FLAGS, `--user-data-dir=${temporaryFolder()}`, url];
	const browser = await Program.start(args, (output) => output.includes("DevTools listening"), { command: CHROMIUM });
	t.after(() => browser.stop());
	const { host } = new URL(browser.said(/DevTools listening on (\S+)/));
	const pages = (await (await fetch(`http://${host}/json`)).json()) as { type: string; webSocketDebuggerUrl: string }[];
	const socket = new WebSocket(pages.find(({ type }) => type === "page")?.webSocketDebuggerUrl ?? "");
	t.after(() => socket.terminate());
	await once(socket, "open");
	return async (expression) => {
		socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }));
		const [answer] = (await once(socket, "message")) as [Buffer];
		return JSON.parse(answer.toString()).result?.result?.value;
	};
}

describe(title, { skip: skip || (CHROMIUM === "" && "CHROMIUM is not set") }, () => {
	it("its page for browsers, as a device at our gateway: finds its backend, tools listed, one called", async (t) => {
		const gateway = await startGateway(temporaryFolder(), "--bootstrap", "open");
		t.after(() => gateway.program.stop());
		const evaluate = await browse(t, await servePage(t));
		const isReady = async (): Promise<boolean> => (await evaluate("window.microphoneAvailable")) !== undefined;
		await until(isReady, "the page is loaded");
		await evaluate(`document.getElementById("otaUrl").value = "${gateway.base}/xiaozhi/ota/"`);
		await evaluate('document.getElementById("dialBtn").click()');
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
