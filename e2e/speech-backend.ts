import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { Aedes } from "aedes";
import type { WebSocket } from "ws";
import { aesCtr } from "xs-mcp/build/aes-ctr";
import { readFrame, readTimestamp, writeFrame } from "xs-mcp-firmware/features/voice/audio-frames";
import { readUdpSettings, UdpAudio } from "xs-mcp-firmware/features/voice/udp-audio";
import { listen, listenForSockets } from "../host-test/support/testing.js";

export async function openBackend(test: TestContext, version: number) {
	const { server, url } = await listenForSockets(test);
	const packets: Uint8Array[] = [];
	/** Timestamps of the packets. */
	const timestamps: number[] = [];
	/** The device's hello. */
	const hello: { features?: object } = {};
	/** Types of what the device says, with its states: "hello", "listen start". */
	const messages: string[] = [];
	/** Results of tools that were called by {@link call}, in their order. */
	const answers: {
		readonly id?: number;
		readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
	}[] = [];
	let connected: WebSocket | undefined;
	const greeted = new Promise<void>((resolve) => {
		server.on("connection", (socket) => {
			connected = socket;
			socket.on("message", (data: Buffer, isBinary) => {
				if (isBinary) {
					packets.push(Uint8Array.from(readFrame(data, version)));
					timestamps.push(readTimestamp(Uint8Array.from(data).buffer, version));
					return;
				}
				const { type, state, features, payload } = JSON.parse(data.toString());
				if (type === "hello") {
					Object.assign(hello, { features });
					socket.send(JSON.stringify({ type: "hello", transport: "websocket", session_id: "s" }));
					resolve();
				}
				if (type === "mcp") {
					answers.push(payload);
				} else {
					messages.push(state === undefined ? type : `${type} ${state}`);
				}
			});
		});
	});
	return {
		url,
		packets,
		timestamps,
		hello,
		messages,
		greeted,
		answers,
		say: (message: object): void => connected?.send(JSON.stringify(message)),
		send: (packet: Uint8Array, timestamp = 0): void => connected?.send(writeFrame(packet, version, timestamp)),
	};
}

export async function openUdpBackend(test: TestContext) {
	const udp = createSocket("udp4");
	udp.bind(0, "127.0.0.1");
	await once(udp, "listening");
	const aedes = await Aedes.createBroker();
	const port = await listen(test, createServer(aedes.handle));
	test.after(() => {
		udp.close();
		aedes.close();
	});
	const offer = {
		server: "127.0.0.1",
		port: udp.address().port,
		key: randomBytes(16).toString("hex"),
		nonce: "01000000000000070000000000000000",
	};
	const audio = new UdpAudio(readUdpSettings(offer), aesCtr);
	const packets: Uint8Array[] = [];
	const timestamps: number[] = [];
	const hello: { features?: object } = {};
	let peer = 0;
	udp.on("message", (datagram, { port }) => {
		peer = port;
		const { packet, timestamp } = audio.open(datagram);
		packets.push(packet);
		timestamps.push(timestamp);
	});
	const say = (message: object): void =>
		aedes.publish(
			{ cmd: "publish", topic: "down", payload: JSON.stringify(message), qos: 0, dup: false, retain: false },
			() => {},
		);
	const messages: string[] = [];
	aedes.on("publish", ({ topic, payload }) => {
		if (topic !== "up") {
			return;
		}
		const { type, state, features, payload: mcp } = JSON.parse(payload.toString());
		const detail = state ?? mcp?.params?.newState;
		messages.push(detail === undefined ? type : `${type} ${detail}`);
		if (type === "hello") {
			Object.assign(hello, { features });
			const audio_params = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 };
			say({ type: "hello", transport: "udp", session_id: "s", audio_params, udp: offer });
		}
	});
	return {
		config: { backend: `mqtt://127.0.0.1:${port}`, clientId: "dev-1", publishTopic: "up", subscribeTopic: "down" },
		packets,
		timestamps,
		hello,
		messages,
		say,
		/** Sends a packet of Opus, or loses it. */
		send(packet: Uint8Array, timestamp = 0, isLost = false): void {
			const datagram = audio.seal(packet, timestamp);
			if (!isLost) {
				udp.send(datagram, peer, "127.0.0.1");
			}
		},
	};
}
