import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { aesCtr } from "xs-mcp/build/aes-ctr";
import { readUdpSettings, UdpAudio } from "xs-mcp-firmware/features/voice/udp-audio";
import { testWith, until } from "../../../host-test/support/testing.js";
import type { Message } from "../src/engine/engine.js";
import { openConnections } from "../src/services/service.js";
import { openUdp } from "../src/services/sockets.js";

const KEY = "000102030405060708090a0b0c0d0e0f";
/** Of xinnan-tech/xiaozhi-mqtt-gateway, whose connection has the number 7. */
const NONCE = "01000000000000070000000000000000";
const PACKET = Buffer.from("58e8a1b2c3d4e5f60718293a4b", "hex");

/** That packet as programs of the family send it, the first and the second of a session. */
const RECORDED = {
	gateway: [
		"0100000d000000070001e2400000000147f5fbd4d260116d800b48cc2c",
		"0100000d000000070001e27c00000002a9671f862a07b42b850817650a",
	],
	/** huangjunsen0406/py-xiaozhi, which sends no timestamp. */
	py: ["0100000d0000000700000000000000016d554d02283ba7a0c5dac2ff09"],
};

const keys = () => readUdpSettings({ server: "h", port: 1, key: KEY, nonce: NONCE });

async function bound(t: TestContext): Promise<{ socket: Socket; port: number }> {
	const socket = createSocket("udp4");
	socket.bind(0, "127.0.0.1");
	await once(socket, "listening");
	t.after(() => socket.close());
	return { socket, port: socket.address().port };
}

/** A device's channel to a server, which has got its first datagram. */
async function connect(t: TestContext) {
	const { socket, port } = await bound(t);
	const messages: Message[] = [];
	const sockets = openConnections("udp", openUdp, (message) => messages.push(message));
	t.after(() => sockets.close());
	const { key, nonce } = keys();
	sockets.take("open", [1, "127.0.0.1", port, [...key], [...nonce]]);
	const arrived = once(socket, "message");
	sockets.take("write", [1, 60], PACKET);
	const [, peer] = (await arrived) as [Buffer, { port: number }];
	const send = (bytes: Uint8Array) => socket.send(bytes, peer.port, "127.0.0.1");
	const heard = () =>
		messages.map(({ header, bytes }) => [...header, ...(bytes ? [Buffer.from(bytes).toString("hex")] : [])]);
	return { peer, send, sockets, heard };
}

const itConnected = testWith(connect);

describe("audio over UDP, with AES-128-CTR", () => {
	it("is read as programs of the family send it", () => {
		for (const datagrams of Object.values(RECORDED)) {
			const audio = new UdpAudio(keys(), aesCtr);
			for (const datagram of datagrams) {
				assert.deepEqual(Buffer.from(audio.open(Buffer.from(datagram, "hex")).packet), PACKET);
			}
		}
	});

	it("is written alike", () => {
		const audio = new UdpAudio(keys(), aesCtr);
		const datagrams = [123_456, 123_516].map((time) => Buffer.from(audio.seal(PACKET, time)).toString("hex"));
		assert.deepEqual(datagrams, RECORDED.gateway);
	});

	itConnected("is dropped with the reason if it is old or malformed", async ({ send, heard }) => {
		const server = new UdpAudio(keys(), aesCtr);
		const datagram = server.seal(PACKET, 0);
		send(datagram);
		send(datagram);
		send(Buffer.from("hello"));
		await until(() => heard().length === 3, "three have come");
		assert.deepEqual(heard().slice(1), [
			["udp.dropped", 1, "number 1, after 1"],
			["udp.dropped", 1, "5 bytes, no more than a header"],
		]);
	});

	itConnected("does not come from elsewhere", async ({ peer, send, heard }, t) => {
		const stranger = await bound(t);
		const server = new UdpAudio(keys(), aesCtr);
		const forged = new UdpAudio(keys(), aesCtr);
		await new Promise((resolve) => stranger.socket.send(forged.seal(PACKET, 0), peer.port, "127.0.0.1", resolve));
		send(server.seal(PACKET, 0));
		await until(() => heard().length > 0, "the server's has come");
		assert.deepEqual(heard(), [["udp.packet", 1, 0, PACKET.toString("hex")]]);
	});

	itConnected("ends with its session", async ({ sockets, heard }) => {
		sockets.take("close", [1]);
		sockets.take("write", [1, 60], PACKET);
		assert.deepEqual(heard(), []);
	});

	it("sends the latest packet once its server is looked up", async (t) => {
		const { socket, port } = await bound(t);
		const sockets = openConnections("udp", openUdp, () => {});
		t.after(() => sockets.close());
		const { key, nonce } = keys();
		sockets.take("open", [1, "localhost", port, [...key], [...nonce]]);
		const server = new UdpAudio(keys(), aesCtr);
		const stamps: number[] = [];
		socket.on("message", (datagram) => stamps.push(server.open(datagram).timestamp));
		for (let time = 1; time <= 100; time += 1) {
			sockets.take("write", [1, time], PACKET);
		}
		await until(() => stamps.length > 0, "one has come");
		sockets.take("write", [1, 200], PACKET);
		await until(() => stamps.length === 2, "the next one has come");
		assert.deepEqual(stamps, [100, 200]);
	});

	it("ends with the reason if its server is not found, whatever was sent meanwhile", async (t) => {
		const messages: Message[] = [];
		const sockets = openConnections("udp", openUdp, (message) => messages.push(message));
		t.after(() => sockets.close());
		const { key, nonce } = keys();
		sockets.take("open", [2, "no-such-host.invalid", 1, [...key], [...nonce]]);
		sockets.take("write", [2, 60], PACKET);
		await until(() => messages.length > 0, "it is reported");
		assert.deepEqual(messages[0]?.header.slice(0, 2), ["udp.error", 2]);
		assert.match(String(messages[0]?.header[2]), /no-such-host.invalid/);
		sockets.take("write", [2, 120], PACKET);
		sockets.take("close", [2]);
	});
});
