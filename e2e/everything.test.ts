import assert from "node:assert/strict";
import { it } from "node:test";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { EVERYTHING, RawBackend } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";

it("npm run device --firmware runs a device whose tools are called, and whose state and pictures are read", async (t) => {
	const backend = await RawBackend.listen(t);
	const device = await startVirtualDevice(backend.url, "--new", "--firmware", EVERYTHING);
	t.after(() => device.stop());
	await backend.greet();
	const { result } = await backend.ask({ id: 1, method: "tools/call", params: { name: "test_simple_text" } });
	assert.equal(result.content[0].text, "This is a simple text response for testing.");
	const read = async (uri: string) => {
		const { result } = await backend.ask({ id: uri, method: "resources/read", params: { uri } });
		return result.contents[0];
	};
	const { board, state, version, parts, uptime } = JSON.parse((await read("device://self/state")).text);
	assert.deepEqual([board, state, version], ["virtual", "idle", FIRMWARE.version]);
	for (const part of ["speaker", "screen", "snapshot"]) {
		assert.ok(parts.includes(part), part);
	}
	assert.ok(uptime >= 0 && uptime < 300_000, `${uptime} ms`);
	for (const uri of ["device://self/screen", "device://self/camera"]) {
		const { blob, mimeType } = await read(uri);
		assert.equal(mimeType, "image/jpeg");
		assert.deepEqual([...Buffer.from(blob, "base64").subarray(0, 3)], [0xff, 0xd8, 0xff], uri);
	}
});
