import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import getPort from "get-port";
import jpeg from "jpeg-js";
import { makePng } from "../../scripts/fonts/bm-font.js";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { until } from "../support/until.js";
import { findPeer } from "./peers.js";
import { ScriptedModel } from "./scripted-model.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

/** Milliseconds for one run: the firmware is built, and a peer in Python takes a while to start. */
const TIMEOUT = 300_000;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const sdk = findSdk();
const { title, folder = "", skip } = findPeer("XIAOZHI_SERVER");

/** A server that takes the screen's snapshot: its address, and the JPEG file in the form that has come. */
async function takeUploads(t: TestContext) {
	const uploads: Buffer[] = [];
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) {
			chunks.push(chunk as Buffer);
		}
		const form = Buffer.concat(chunks);
		uploads.push(form.subarray(form.indexOf(Buffer.of(0xff, 0xd8)), form.lastIndexOf(Buffer.of(0xff, 0xd9)) + 2));
		response.end("{}");
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	t.after(() => server.close());
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, uploads };
}

/** The firmware in the simulator with this backend, and a client that it serves itself. */
async function connect(t: TestContext, backend: string) {
	const port = await getPort();
	const settings = [`backend=${backend}`, `http=${port}`, "httpToken=secret", "language=zh"];
	const library = await buildForSimulator(sdk as Sdk, ROOT, settings);
	const simulator = await Simulator.start(sdk as Sdk, library, { headless: true });
	t.after(() => simulator.stop());
	const lines: string[] = [];
	simulator.on("line", (line) => lines.push(line));
	simulator.on("ended", (reason) => lines.push(`it ended: ${reason}`));
	await until(() => lines.some((line) => line.startsWith("serving MCP")), "the device serves MCP");
	await until(() => lines.some((line) => line.startsWith("session ")), "the device is in a session");
	const client = new Client({ name: "test", version: "1" });
	t.after(() => client.close());
	const requestInit = { headers: { authorization: "Bearer secret" } };
	await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }));
	return { client, lines };
}

describe(`${title}, with the firmware in Moddable's simulator`, {
	skip: skip || (sdk === undefined && NO_SDK),
}, () => {
	it("a client of the device says a text: the model's Chinese answer comes back, and to the screen", {
		timeout: TIMEOUT,
	}, async (t) => {
		const model = await ScriptedModel.listen(t, "🙂今天天气很好，最高25度，出门别忘了带水。");
		const server = await startXiaozhiServer(t, folder, { modelUrl: model.url });
		const { client, lines } = await connect(t, server.url);
		t.after(() => t.diagnostic(lines.slice(-30).join("\n")));
		await until(() => server.program.output.includes("客户端设备支持的工具数量"), "the server has the tools");
		const call = { name: "self.assistant.say", arguments: { text: "今天天气怎么样?" } };
		const { structuredContent } = await client.callTool(call, { timeout: 60_000 });
		// The server cuts the answer into sentences, and leaves out what is between them.
		assert.deepEqual(structuredContent, { text: "今天天气很好，最高25度 出门别忘了带水", emotion: "happy" });
		const { url, uploads } = await takeUploads(t);
		await client.callTool({ name: "self.screen.snapshot", arguments: { url, quality: 95 } });
		const { width, height, data } = jpeg.decode(uploads[0] as Buffer, { maxMemoryUsageInMB: 64 });
		assert.deepEqual([width, height], [320, 240]);
		assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
		const { SCREENSHOT } = process.env;
		if (SCREENSHOT) {
			writeFileSync(SCREENSHOT, makePng(width, height, data));
		}
	});
});
