import assert from "node:assert/strict";
import { createServer } from "node:http";
import { it } from "node:test";
import { encodeImage } from "xs-mcp-virtual-device";
import { RawBackend } from "../../e2e/fixtures.js";
import { FIRMWARE } from "../../src/core/firmware.js";
import { listen, skipIf } from "../support/testing.js";
import { makeChip, whyNotXs } from "./chip.js";

const IMAGE = encodeImage(`throw new Error(${JSON.stringify("x".repeat(2 * 1_048_576))})`, {
	...FIRMWARE,
	version: "9.9.9",
});

it("an update of two megabytes on a chip with 64 KB of chunks is installed, with progress while it arrives", {
	skip: skipIf(whyNotXs),
}, async (t) => {
	const server = createServer((_request, response) => {
		response.writeHead(200, { "Content-Length": IMAGE.byteLength }).end(IMAGE);
	});
	const url = `http://127.0.0.1:${await listen(t, server)}/firmware.bin`;
	const backend = await RawBackend.listen(t);
	const device = await makeChip(backend.url);
	t.after(() => device.stop());
	const ends: string[] = [];
	device.on("exit", ({ code, detail }) => ends.push(`${code}: ${detail}`));
	await device.start();
	await backend.greet();
	const params = { name: "self.upgrade_firmware", arguments: { url }, _meta: { progressToken: "p" } };
	backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
	const progress: unknown[] = [];
	for (;;) {
		const { payload } = JSON.parse(await backend.hear());
		if (payload?.method === "notifications/progress") {
			progress.push(payload.params.progress);
		} else if (payload?.id === 1) {
			assert.deepEqual(payload.result, { content: [{ type: "text", text: "true" }], isError: false });
			break;
		}
	}
	assert.deepEqual([progress.length, progress.at(-1), ends], [20, IMAGE.byteLength, []]);
});
