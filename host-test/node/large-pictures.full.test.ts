import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { RawBackend } from "../../e2e/fixtures.js";
import { largeJpeg } from "../support/large-jpeg.js";
import { listen, skipIf } from "../support/testing.js";
import { makeChip, whyNotXs } from "./chip.js";

const PICTURE = largeJpeg();

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

async function webServer(t: TestContext): Promise<{ url: string; body: () => Buffer }> {
	let body = Buffer.alloc(0);
	const server = createServer(async (request, response) => {
		body = await buffer(request);
		response.end(request.method === "GET" ? PICTURE : "{}");
	});
	return { url: `http://127.0.0.1:${await listen(t, server)}/`, body: () => body };
}

describe("pictures of a megabyte on a chip with 64 KB of chunks", { skip: skipIf(whyNotXs) }, () => {
	const start = async (t: TestContext, vision: string) => {
		const backend = await RawBackend.listen(t);
		const device = await makeChip(backend.url, PICTURE);
		const notes: string[] = [];
		device.on("note", (text) => notes.push(text));
		t.after(() => device.stop());
		await device.start();
		await backend.greet();
		const capabilities = { vision: { url: vision, token: "" } };
		const client = { protocolVersion: "2024-11-05", capabilities, clientInfo: { name: "test", version: "1" } };
		await backend.ask({ id: 1, method: "initialize", params: client });
		const call = async (id: number, name: string, args: object) =>
			await backend.ask({ id, method: "tools/call", params: { name, arguments: args } });
		return { backend, call, notes };
	};

	it("are uploaded byte for byte", async (t) => {
		assert.ok(PICTURE.length > 1_048_576, `${PICTURE.length} bytes`);
		const { url, body } = await webServer(t);
		const { call } = await start(t, url);
		for (const id of [2, 3]) {
			const { result } = await call(id, "self.camera.take_photo", { question: "what?" });
			assert.deepEqual(result, { content: [{ type: "text", text: "{}" }], isError: false });
			const from = body().indexOf(Buffer.from([0xff, 0xd8, 0xff]));
			assert.equal(hash(body().subarray(from, from + PICTURE.length)), hash(PICTURE));
		}
	});

	it("are shown", async (t) => {
		const { url } = await webServer(t);
		const { call, notes } = await start(t, url);
		const { result } = await call(2, "self.screen.preview_image", { url });
		assert.deepEqual([result?.isError, notes], [false, ["the screen shows a picture of 1600 x 1200 pixels"]]);
	});

	it("are too large for a resource, which fails with that error", async (t) => {
		const { backend } = await start(t, "http://127.0.0.1:1/");
		const answer = await backend.ask({ id: 2, method: "resources/read", params: { uri: "device://self/camera" } });
		assert.match(answer.error.message, /picture of \d+ bytes \(limit 6000\)/);
	});
});
