import { readFrame, writeFrame } from "../../src/features/voice/audio-frames.js";
import { equal, suite, throws } from "../harness.js";

const PACKET = bytesOf("58e8a1b2c3d4e5f60718293a4b");
const FRAMES = {
	/** 78/xiaozhi-esp32, `Protocol-Version: 2`. */
	firmware2: bytesOf("00020000000000000001e2400000000d58e8a1b2c3d4e5f60718293a4b"),
	/** 78/xiaozhi-esp32, `Protocol-Version: 3`. */
	firmware3: bytesOf("0000000d58e8a1b2c3d4e5f60718293a4b"),
	/** xinnan-tech/xiaozhi-mqtt-gateway, to the server. */
	gateway: bytesOf("00000000000000000001e2400000000d58e8a1b2c3d4e5f60718293a4b"),
	/** xinnan-tech/xiaozhi-esp32-server, to that gateway. */
	server: bytesOf("0100000d000000030001e2400000000d58e8a1b2c3d4e5f60718293a4b"),
};
const TIMESTAMP = 123_456;

const MAX_PACKET_BYTES = 4_000;

function bytesOf(hex: string): Uint8Array {
	return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function changed(frame: Uint8Array, at: number, byte: number): Uint8Array {
	return frame.map((value, index) => (index === at ? byte : value));
}

export default suite("frames of audio over WebSocket", {
	"version 1 is the packet itself"() {
		equal([...readFrame(PACKET, 1)], [...PACKET]);
		equal([...writeFrame(PACKET, 1, TIMESTAMP)], [...PACKET]);
	},
	"versions 2 and 3 are read as the C++ firmware writes them, and written alike"() {
		for (const [version, frame] of [
			[2, FRAMES.firmware2],
			[3, FRAMES.firmware3],
		] as const) {
			equal([...readFrame(frame, version)], [...PACKET]);
			equal([...writeFrame(PACKET, version, TIMESTAMP)], [...frame]);
		}
	},
	"version 2 is read as xinnan's MQTT gateway and server write it, without its version"() {
		equal([...readFrame(FRAMES.gateway, 2)], [...PACKET]);
		equal([...readFrame(FRAMES.server, 2)], [...PACKET]);
	},
	"a part of a larger buffer is read, too"() {
		const inside = new Uint8Array(100);
		inside.set(FRAMES.firmware3, 40);
		equal([...readFrame(inside.subarray(40, 40 + FRAMES.firmware3.byteLength), 3)], [...PACKET]);
		equal([...readFrame(FRAMES.firmware3.slice().buffer, 3)], [...PACKET]);
	},
	"an unknown version is read as 1"() {
		equal([...readFrame(PACKET, 7)], [...PACKET]);
	},
	"a timestamp keeps its lower 32 bits"() {
		equal([...writeFrame(PACKET, 2, 2 ** 32 + TIMESTAMP)], [...FRAMES.firmware2]);
	},
	"a frame that is too short for its header is rejected"() {
		for (const [version, bytes] of [
			[2, 15],
			[3, 3],
		] as const) {
			throws(() => readFrame(new Uint8Array(bytes), version), /bytes, less than a header of version/);
		}
	},
	"a frame whose size is not that of its packet is rejected"() {
		throws(() => readFrame(changed(FRAMES.firmware2, 15, 14), 2), /13 bytes after a header for 14/);
		throws(() => readFrame(changed(FRAMES.firmware2, 12, 0xff), 2), /after a header for 4278190093/);
		throws(() => readFrame(changed(FRAMES.firmware3, 3, 12), 3), /13 bytes after a header for 12/);
	},
	"a frame of JSON is rejected"() {
		throws(() => readFrame(changed(FRAMES.firmware2, 3, 1), 2), /type 1, not Opus/);
		throws(() => readFrame(changed(FRAMES.firmware3, 0, 1), 3), /type 1, not Opus/);
	},
	"an empty packet, and one that is too long, are rejected"() {
		throws(() => readFrame(new Uint8Array(0), 1), /empty/);
		throws(() => readFrame(writeFrame(new Uint8Array(0), 2, 0), 2), /empty/);
		for (const version of [1, 2, 3]) {
			const longest = new Uint8Array(MAX_PACKET_BYTES);
			equal(readFrame(writeFrame(longest, version, 0), version).byteLength, MAX_PACKET_BYTES);
			const longer = new Uint8Array(MAX_PACKET_BYTES + 1);
			throws(() => readFrame(writeFrame(longer, version, 0), version), /4001 bytes \(limit 4000\)/);
		}
	},
});
