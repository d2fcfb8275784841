import assert from "node:assert/strict";
import { it } from "node:test";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { bundle } from "../../virtual-device/src/index.js";
import { cases } from "../support/scope.js";
import { ENGINES, EVERYTHING, RawBackend, startDevice } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";

const script = await bundle(EVERYTHING);

it("npm run device runs it by --firmware", async (t) => {
	const backend = await RawBackend.listen(t);
	const device = await startVirtualDevice(backend.url, "--new", "--firmware", EVERYTHING);
	t.after(() => device.stop());
	await backend.greet();
	const { result } = await backend.ask({ id: 1, method: "tools/call", params: { name: "test_simple_text" } });
	assert.equal(result.content[0].text, "This is a simple text response for testing.");
});

for (const engine of cases(ENGINES)) {
	it(`the state and the pictures of a device can be read, firmware on ${engine.kind}`, async (t) => {
		const backend = await RawBackend.listen(t);
		await startDevice(t, engine, { config: { backend: backend.url }, script });
		await backend.greet();
		const read = async (uri: string) => {
			const { result } = await backend.ask({ id: uri, method: "resources/read", params: { uri } });
			return result.contents[0];
		};
		const { board, state, version, parts, uptime } = JSON.parse((await read("device://self/state")).text);
		assert.deepEqual([board, state, version], ["virtual", "idle", FIRMWARE.version]);
		const expected = ["speaker", "screen", "snapshot"];
		assert.deepEqual(
			parts.filter((part: string) => expected.includes(part)),
			expected,
		);
		assert.ok(uptime >= 0 && uptime < 30_000, `${uptime} ms`);
		for (const uri of ["device://self/screen", "device://self/camera"]) {
			const { blob, mimeType } = await read(uri);
			assert.equal(mimeType, "image/jpeg");
			assert.deepEqual([...Buffer.from(blob, "base64").subarray(0, 3)], [0xff, 0xd8, 0xff], uri);
		}
	});
}
