import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { aesCtr } from "xs-mcp/build/aes-ctr";
import { openOpusDecoder } from "xs-mcp/build/opus";
import { OggOpusReader } from "xs-mcp-firmware/features/voice/ogg-opus";
import { readUdpSettings, UdpAudio, type UdpSettings } from "xs-mcp-firmware/features/voice/udp-audio";
import { correlation } from "../../../host-test/support/correlation.js";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf, until } from "../../../host-test/support/testing.js";
import { RemoteConnection } from "../src/cluster/remote-connection.js";
import { callLamp, connectMqtt, familyHello } from "../testing/family.js";
import { connect as connectTo, type StartedProgram, startProgram } from "../testing/program.js";
import { say, startSpeaking } from "../testing/speaker.js";

const ID = "aa:bb:cc:00:00:04";

const PACKET = Uint8Array.of(0x58, 1, 2, 3);

async function connect(t: TestContext, side: StartedProgram, id = ID) {
	const { client, mcp } = await connectMqtt(t, side.gateway.urls.mqtt as string, { clientId: id });
	mcp.say(familyHello("udp", 3));
	assert.equal(await callLamp(side, id), "true");
	const sessionId = mcp.first("hello")?.session_id;
	const settings = readUdpSettings(mcp.first("hello")?.udp);
	const socket = await openSocket(t);
	const audio = new UdpAudio(settings, aesCtr);
	const send = (datagram: Uint8Array, from = socket): void => from.send(datagram, settings.port, settings.server);
	return { client, mcp, sessionId, settings, audio, socket, send };
}

async function start(t: TestContext) {
	const side = await startProgram(t, { mqtt: true });
	return { side, ...(await connect(t, side)) };
}

async function openSocket(t: TestContext, address = "127.0.0.1"): Promise<Socket> {
	const socket = createSocket("udp4");
	socket.bind(0, address);
	await once(socket, "listening");
	t.after(() => socket.close());
	return socket;
}

function listenTo({ gateway }: StartedProgram, id = ID) {
	const heard: number[][] = [];
	const rejected: string[] = [];
	gateway.servers.on("rejected", (description) => rejected.push(description));
	gateway.servers.find(id)?.connection?.audio?.on("packet", (packet) => heard.push([...packet]));
	return { heard, rejected };
}

/** A datagram that a gateway reads as a packet of Opus, although its sender has another key: that happens once in 40. */
function luckyNoise({ key, nonce }: UdpSettings, number: number, packet = PACKET): Uint8Array {
	const datagram = Uint8Array.from([...nonce, ...packet]);
	const view = new DataView(datagram.buffer);
	view.setUint16(2, packet.byteLength);
	view.setUint32(12, number);
	datagram.set(aesCtr(key)(datagram.slice(0, 16), packet), 16);
	return datagram;
}

/**
 * A datagram with a wrong key and the highest number, after which all of the device's would be old. One in 40 such would pass
 * for 60 ms of Opus; this does not.
 */
function noiseFor(settings: UdpSettings): Uint8Array {
	// Two frames of one size, of SILK of 10 ms.
	return luckyNoise(settings, 0xffff_ffff, Uint8Array.of(1, 0, 0, 0));
}

const guess = (settings: UdpSettings, known: Partial<UdpSettings>): UdpAudio =>
	new UdpAudio({ ...settings, ...known }, aesCtr);

describe("the audio of a device over MQTT", () => {
	it("arrives by UDP, and lost packets are reported", async (t) => {
		const { side, audio, send } = await start(t);
		const { heard } = listenTo(side);
		send(audio.seal(PACKET, 0));
		await until(() => heard.length === 1, "a packet is heard");
		audio.seal(PACKET, 60);
		send(audio.seal(PACKET, 120));
		await until(() => heard.length === 3, "another one is heard");
		assert.deepEqual(heard, [[...PACKET], [], [...PACKET]]);
	});

	it("is dropped, counted and goes on if it is old, too short, too long, of another type or of a wrong size", async (t) => {
		const { side, audio, send } = await start(t);
		const { heard, rejected } = listenTo(side);
		const first = audio.seal(PACKET, 0);
		send(first);
		await until(() => heard.length === 1, "a packet is heard");
		const second = audio.seal(PACKET, 60);
		const changed = (...bytes: readonly [at: number, byte: number][]): Uint8Array => {
			const datagram = second.slice();
			for (const [at, byte] of bytes) {
				datagram[at] = byte;
			}
			return datagram;
		};
		const header = changed([2, 7], [3, 0xd0]).slice(0, 16);
		const bad: [Uint8Array, RegExp][] = [
			[first, /number 1, after 1/],
			[second.slice(0, 16), /no more than a header/],
			[changed([0, 7]), /type 7, not Opus/],
			[changed([3, 90]), /4 bytes after a header for 90/],
			[Buffer.concat([header, Buffer.alloc(2_000)]), /2000 bytes \(limit 1400\)/],
		];
		for (const [index, [datagram, reason]] of bad.entries()) {
			send(datagram);
			await until(() => rejected.length === index + 1, "it is rejected");
			assert.match(rejected[index] ?? "", reason);
		}
		assert.equal(side.gateway.servers.find(ID)?.connection?.audio?.dropped, bad.length);
		send(second);
		await until(() => heard.length === 2, "the next packet is heard");
	});

	it("is dropped and counted if it comes from elsewhere, or with a wrong key, and takes nothing from the device", async (t) => {
		const { side, audio, send, settings } = await start(t);
		const { heard, rejected } = listenTo(side);
		send(audio.seal(PACKET, 0));
		await until(() => heard.length === 1, "a packet is heard");
		send(noiseFor(settings));
		await until(() => rejected.length === 1, "the noise is rejected");
		send(audio.seal(PACKET, 20));
		send(audio.seal(PACKET, 40));
		await until(() => heard.length === 3, "its address is trusted");
		send(audio.seal(PACKET, 60), await openSocket(t, "127.0.0.2"));
		await until(() => rejected.length === 2, "the other address is rejected");
		assert.match(rejected[1] ?? "", /from 127.0.0.2, not from 127.0.0.1/);
		send(guess(settings, { nonce: Buffer.alloc(16, 1) }).seal(PACKET, 0));
		send(new Uint8Array(3));
		await until(() => rejected.length === 4, "datagrams of no session are rejected");
		assert.match(rejected[2] ?? "", /^UDP: 127.0.0.1: a datagram of 20 bytes of no session dropped$/);
		send(audio.seal(PACKET, 120));
		await until(() => heard.length > 3, "the device is still heard");
		const metrics = await (await fetch(`${side.base}/metrics`)).text();
		assert.match(metrics, /device_messages_rejected_total 4/);
	});

	it("is the device's, even if datagrams from elsewhere with a wrong key come first", async (t) => {
		const { side, audio, send, settings, socket } = await start(t);
		const { heard } = listenTo(side);
		const other = await openSocket(t, "127.0.0.2");
		send(luckyNoise(settings, 1), other);
		send(luckyNoise(settings, 2), other);
		await until(() => heard.length === 2, "noise is heard");
		heard.length = 0;
		const sent = Array.from({ length: 5 }, () => audio.seal(PACKET, 0));
		for (const datagram of sent) {
			send(datagram);
		}
		await until(() => heard.length === 5, "the device is heard from its first packet on");
		const arrived: unknown[] = [];
		socket.on("message", (datagram) => arrived.push(datagram));
		side.gateway.servers.find(ID)?.connection?.audio?.send(PACKET);
		await until(() => arrived.length === 1, "it hears the gateway");
	});

	it("is not made old by a single datagram with a number far ahead, but goes on after a long silence", async (t) => {
		const { side, audio, send, settings } = await start(t);
		const { heard, rejected } = listenTo(side);
		send(audio.seal(PACKET, 0));
		await until(() => heard.length === 1, "a packet is heard");
		send(luckyNoise(settings, 1_000_000));
		await until(() => rejected.length === 1, "it is rejected");
		assert.match(rejected[0] ?? "", /number 1000000, too far after 1/);
		send(audio.seal(PACKET, 60));
		await until(() => heard.length === 2, "the next packet is heard");
		for (let lost = 0; lost < 200; lost += 1) {
			audio.seal(PACKET, 0);
		}
		heard.length = 0;
		send(audio.seal(PACKET, 0));
		send(audio.seal(PACKET, 0));
		await until(() => heard.length > 0, "the device is heard again");
	});

	it("is heard after its first datagrams were lost, also among datagrams from elsewhere", async (t) => {
		const { side, audio, send, settings } = await start(t);
		const { heard, rejected } = listenTo(side);
		const other = await openSocket(t, "127.0.0.2");
		for (let lost = 0; lost < 55; lost += 1) {
			audio.seal(PACKET, 0);
		}
		send(audio.seal(PACKET, 0));
		await until(() => rejected.length === 1, "its first packet is rejected");
		send(noiseFor(settings), other);
		await until(() => rejected.length === 2, "the noise is rejected");
		for (let sent = 0; sent < 10; sent += 1) {
			send(audio.seal(PACKET, 0));
		}
		await until(() => heard.length === 10, "each later packet is heard");
	});

	it("does not trust an address for packets of changing durations", async (t) => {
		const { side, audio, send, settings } = await start(t);
		const { heard } = listenTo(side);
		const other = await openSocket(t, "127.0.0.2");
		for (let number = 1; number <= 6; number += 1) {
			send(luckyNoise(settings, number, Uint8Array.of(number % 2 === 0 ? 0x08 : 0x58, 1)), other);
		}
		await until(() => heard.length === 6, "noise is heard");
		send(audio.seal(PACKET, 0));
		await until(() => heard.length === 7, "the device is heard");
	});

	it("never uses a key stream twice, also for packets of the same millisecond", async (t) => {
		const { side, audio, send, socket } = await start(t);
		const long = Buffer.concat([PACKET, new Uint8Array(70)]);
		/** Blocks of the cipher by their counters. */
		const blocks: string[] = [];
		let count = 0;
		socket.on("message", (datagram) => {
			count += 1;
			for (let block = 0; block * 16 < datagram.byteLength - 16; block += 1) {
				blocks.push(`${datagram.toString("hex", 0, 12)} ${datagram.readUInt32BE(12) + block}`);
			}
		});
		send(audio.seal(PACKET, 0));
		const { connection } = side.gateway.servers.find(ID) ?? {};
		await until(() => connection?.audio?.isOpen === true, "its channel is open");
		for (let sent = 0; sent < 20; sent += 1) {
			connection?.audio?.send(long);
		}
		await until(() => count === 20, "every packet has come");
		assert.equal(new Set(blocks).size, blocks.length);
	});

	it("ends with the session: its datagrams belong to none, and the next has other secrets", async (t) => {
		const { side, mcp, audio, send, settings, sessionId } = await start(t);
		send(audio.seal(PACKET, 0));
		const { connection } = side.gateway.servers.find(ID) ?? {};
		await until(() => connection?.audio?.isOpen === true, "its channel is open");
		const { rejected } = listenTo(side);
		const ended = once(side.gateway.servers, "disconnected");
		mcp.say({ type: "goodbye", session_id: sessionId });
		await ended;
		assert.equal(connection?.audio?.isOpen, false);
		send(audio.seal(PACKET, 60));
		await until(() => rejected.some((each) => each.includes("of no session")), "it belongs to no session");
		mcp.received.length = 0;
		mcp.say(familyHello("udp", 3));
		await until(() => mcp.first("hello") !== undefined, "another session begins");
		const next = readUdpSettings(mcp.first("hello")?.udp);
		assert.notDeepEqual([next.key, next.nonce], [settings.key, settings.nonce]);
	});

	it("has the address that the settings name, or at which the device has reached the broker", async (t) => {
		const named = await startProgram(t, { mqtt: true, udpEndpoint: "voice.example:4000" });
		const { client, mcp } = await connectMqtt(t, named.gateway.urls.mqtt as string, { clientId: ID });
		mcp.say(familyHello("udp", 3));
		await until(() => mcp.first("hello") !== undefined, "a hello");
		const { server, port } = readUdpSettings(mcp.first("hello")?.udp);
		assert.deepEqual([server, port], ["voice.example", 4_000]);
		await client.endAsync(true);
		const everywhere = await startProgram(t, { mqtt: true, udpAddress: "0.0.0.0" });
		assert.equal((await connect(t, everywhere)).settings.server, "127.0.0.1");
	});

	it("does not start on a port that is in use, and says which setting to change", async (t) => {
		const taken = (await openSocket(t)).address().port;
		await assert.rejects(startProgram(t, { mqtt: true, udpPort: taken }), /udpPort: port \d+ is in use/);
	});
});

/** A second of the sound of the voice. */
const tone = () => Int16Array.from({ length: 24_000 }, (_, at) => 8_000 * Math.sin((at * 440 * 2 * Math.PI) / 24_000));

describe("say, to a device of the family over MQTT", { skip: skipIf(await whyNoOpus()) }, () => {
	it("is shown or fails with the reason while the device has not opened its channel", async (t) => {
		const side = await startSpeaking(t, { mqtt: true });
		await connect(t, side);
		assert.match(
			(await say(await connectTo(t, side), { text: "hello" })).text,
			/failed \(it has not opened its audio channel over UDP/,
		);
	});

	it("fails for the C++ firmware since 2.5 at another gateway, which passes no messages on", async (t) => {
		const side = await startSpeaking(t, { mqtt: true });
		const { mcp } = await connectMqtt(t, side.gateway.urls.mqtt as string, { clientId: ID });
		mcp.version = "2.5.0";
		assert.equal(await callLamp(side, ID), "true");
		const { servers } = side.gateway;
		const { board, offers } = servers.find(ID) ?? assert.fail();
		const entry = { id: ID, board, gateway: "other", transport: "mqtt", claim: "c", capabilities: {} };
		const bus = { connected: false } as ConstructorParameters<typeof RemoteConnection>[2];
		servers.connect(
			new RemoteConnection(entry as ConstructorParameters<typeof RemoteConnection>[0], offers, bus, "", () => {}),
		);
		const { text } = await say(await connectTo(t, side), { text: "tone 1" });
		assert.match(text, /failed \(it cannot get files from this gateway/);
	});

	it("is a file of Ogg Opus for the C++ firmware since 2.5, which is idle without a hello", async (t) => {
		const side = await startSpeaking(t, { mqtt: true });
		const { mcp } = await connectMqtt(t, side.gateway.urls.mqtt as string, { clientId: ID });
		mcp.version = "2.5.0";
		assert.equal(await callLamp(side, ID), "true");
		const saying = say(await connectTo(t, side), { text: "tone 1" });
		await until(() => mcp.first("notify") !== undefined, "it is sent");
		const { audio_url: url, subtitles } = mcp.first("notify") as unknown as { audio_url: string; subtitles: object };
		assert.deepEqual(subtitles, [{ start_ms: 0, text: "tone 1" }]);
		const response = await fetch(url);
		assert.equal(response.headers.get("content-type"), "audio/ogg");
		const file = new OggOpusReader();
		file.add(new Uint8Array(await response.arrayBuffer()));
		const decoder = await openOpusDecoder(24_000);
		const samples: number[] = [];
		for (let packet = file.next(); packet !== undefined; packet = file.next()) {
			samples.push(...decoder.decode(packet));
		}
		assert.ok(file.isWhole);
		decoder.free();
		const likeness = correlation(tone(), Int16Array.from(samples), 1_000);
		assert.ok(likeness > 0.9, `correlation ${likeness}`);
		const { outcome } = (await saying).results[0] ?? {};
		assert.equal(outcome, "sent");
		assert.equal((await fetch(url)).status, 404);
	});

	it("comes by UDP, encrypted, between tts start and stop", async (t) => {
		const side = await startSpeaking(t, { mqtt: true });
		const { mcp, audio, send, socket } = await connect(t, side);
		const datagrams: Buffer[] = [];
		socket.on("message", (datagram) => datagrams.push(datagram));
		send(audio.seal(PACKET, 0));
		await until(() => side.gateway.servers.find(ID)?.connection?.audio?.isOpen === true, "the channel is open");
		const saying = say(await connectTo(t, side), { text: "tone 1" });
		const states = (): unknown[] => mcp.received.filter(({ type }) => type === "tts").map(({ state }) => state);
		await until(() => states().includes("stop"), "it has ended");
		mcp.say({ type: "listen", state: "start", mode: "auto" });
		assert.match((await saying).text, /: played$/);
		assert.deepEqual(states(), ["start", "sentence_start", "stop"]);
		const decoder = await openOpusDecoder(24_000);
		const samples = datagrams.flatMap((datagram) => [...decoder.decode(audio.open(datagram).packet)]);
		decoder.free();
		const likeness = correlation(tone(), Int16Array.from(samples), 1_000);
		assert.ok(likeness > 0.9, `correlation ${likeness}`);
	});
});
