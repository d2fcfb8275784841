import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkGolangHello } from "../../../host-test/doubles/golang-server.js";
import { type DeviceHello, GATEWAY_HELLO, readHello } from "../src/devices/device-connection.js";

const AUDIO = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 };
const hello = (more: object) => ({
	type: "hello",
	version: 1,
	transport: "websocket",
	features: { mcp: true },
	...more,
});

describe("a device's hello", () => {
	it("may name its limit beside the features, or among them as older firmware does", () => {
		const limitOf = (message: ReturnType<typeof hello>) => readHello(message).maxMessageBytes;
		assert.equal(limitOf(hello({ max_message_bytes: 4_000 })), 4_000);
		assert.equal(limitOf(hello({ features: { mcp: true, max_message_bytes: 8_000 } })), 8_000);
		assert.equal(
			limitOf(hello({ max_message_bytes: 4_000, features: { mcp: true, max_message_bytes: 8_000 } })),
			4_000,
		);
	});

	it("has the default limit if it names none of use", () => {
		for (const limit of [undefined, "4000", 10, null, true]) {
			assert.equal(readHello(hello({ max_message_bytes: limit })).maxMessageBytes, 65_536);
		}
	});
});

it("the hello of the family that a strict backend decodes is read with its limit, and answered with audio parameters of the same form", () => {
	const text = JSON.stringify(hello({ audio_params: AUDIO, max_message_bytes: 16_384 }));
	checkGolangHello(text);
	const read: DeviceHello = readHello(JSON.parse(text));
	assert.equal(read.maxMessageBytes, 16_384);
	for (const transport of ["websocket", "mqtt"]) {
		checkGolangHello(JSON.stringify({ ...GATEWAY_HELLO, session_id: "s", transport }));
	}
	assert.deepEqual(GATEWAY_HELLO.audio_params, AUDIO);
	assert.deepEqual(GATEWAY_HELLO.features, { listen: false });
});
