import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { writeFrame } from "xs-mcp-firmware/features/voice/audio-frames";
import type { AudioLink } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";
import { connectWebSocket, familyHello } from "../testing/family.js";
import { LAMP } from "../testing/gateway.js";
import { startProgram } from "../testing/program.js";

const PACKET = Uint8Array.from({ length: 20 }, (_, at) => at);

async function connect(t: TestContext, version = 1) {
	const side = await startProgram(t);
	const headers = { "device-id": LAMP, "client-id": "uuid", "protocol-version": `${version}` };
	const { socket, mcp } = await connectWebSocket(t, side.deviceUrl, { headers });
	const online = once(side.gateway.servers, "online");
	mcp.say(familyHello("websocket", version));
	await online;
	const audio = side.gateway.servers.find(LAMP)?.connection?.audio as AudioLink;
	const packets: number[][] = [];
	const listen = () => audio.on("packet", (packet) => void packets.push([...packet]));
	/** Settles when everything sent before has arrived. */
	const arrived = async () => {
		const stopped = once(audio, "message");
		mcp.say({ type: "listen", state: "stop" });
		await stopped;
	};
	return { side, socket, audio, packets, listen, arrived };
}

describe("audio from a device over WebSocket", () => {
	for (const version of [1, 2, 3]) {
		it(`is packets of Opus, in framing ${version}`, async (t) => {
			const { socket, listen, packets, arrived } = await connect(t, version);
			listen();
			socket.send(writeFrame(PACKET, version, 1_234));
			await arrived();
			assert.deepEqual(packets, [[...PACKET]]);
		});
	}

	it("is not read while nothing listens to it", async (t) => {
		const { socket, audio, packets, listen, arrived } = await connect(t, 3);
		socket.send(writeFrame(PACKET, 3, 0));
		socket.send(Uint8Array.of(1, 2, 3));
		await arrived();
		listen();
		assert.deepEqual([packets, audio.dropped], [[], 0]);
	});

	it("is dropped, counted and logged if its frame is wrong; the session goes on", async (t) => {
		const { side, socket, audio, packets, listen, arrived } = await connect(t, 3);
		listen();
		socket.send(Uint8Array.of(1, 2, 3));
		socket.send(Uint8Array.of(0, 0, 0, 99, 1));
		socket.send(new Uint8Array(100_000));
		socket.send(writeFrame(PACKET, 3, 0));
		await arrived();
		assert.deepEqual([packets, audio.dropped], [[[...PACKET]], 3]);
		await until(() => side.log().includes("audio dropped: 3 bytes, less than a header of version 3"), "it is logged");
		assert.equal(socket.readyState, WebSocket.OPEN);
	});
});
