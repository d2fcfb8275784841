import {
	type AesCtr,
	type OpenUdp,
	readUdpSettings,
	UdpAudio,
	type UdpSettings,
	udpOpener,
} from "../../src/features/voice/udp-audio.js";
import { voiceFeature } from "../../src/features/voice/voice.js";
import { FakeBoard, FakeCodec } from "../doubles/fake-board.js";
import { SMALL_BUILD, start } from "../doubles/started-application.js";
import { equal, given, ok, settled, suite, throws } from "../harness.js";

// The cipher is the platform's: here a simple one. With AES: packages/virtual-device/test/services-udp-sockets.test.ts.

const UDP = {
	server: "audio.example",
	port: 1_884,
	key: "000102030405060708090a0b0c0d0e0f",
	nonce: "01000000000000070000000000000000",
};
const PACKET = Uint8Array.of(88, 1, 2);

const cipher: AesCtr = (key) => (counter, bytes) =>
	bytes.map((byte, at) => byte ^ (key[at % 16] as number) ^ (counter[at % 16] as number));

function pair(): { sender: UdpAudio; receiver: UdpAudio } {
	const settings = readUdpSettings(UDP);
	return { sender: new UdpAudio(settings, cipher), receiver: new UdpAudio(settings, cipher) };
}

/** Datagrams with these numbers, of 60 ms or of other packets. */
function datagrams(numbers: readonly number[], packetAt = (_number: number): Uint8Array => PACKET): Uint8Array[] {
	const { sender } = pair();
	return numbers.map((number) => {
		Object.assign(sender, { sent: number - 1 });
		return sender.seal(packetAt(number), 0);
	});
}

/** Numbers that a receiver accepts, out of those that arrive. */
function accepted(receiver: UdpAudio, arriving: readonly Uint8Array[]): number[] {
	return arriving.flatMap((datagram) => {
		try {
			receiver.open(datagram);
			return new DataView(datagram.buffer).getUint32(12);
		} catch (_error) {
			return [];
		}
	});
}

const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, at) => first + at);

function connected(udp: unknown) {
	const codec = new FakeCodec();
	const opened: ({ settings: UdpSettings } & Parameters<OpenUdp>[1])[] = [];
	const sent: number[][] = [];
	let closed = 0;
	const open: OpenUdp = (settings, events) => {
		opened.push({ settings, ...events });
		return {
			send: (packet: Uint8Array) => void sent.push([...packet]),
			close: () => {
				closed += 1;
			},
		};
	};
	const board = Object.assign(new FakeBoard(), { codec });
	const started = start(board, { saysGoodbye: true }, undefined, {
		features: [...SMALL_BUILD, voiceFeature(open)],
	});
	const { channel } = started.transport;
	channel.events.onOpen();
	channel.say({ type: "hello", transport: "udp", session_id: "s-1", udp });
	codec.calls.length = 0;
	return { ...started, codec, channel, opened, sent, closed: () => closed };
}

/** A channel of the firmware's own opener over a fake UDP socket, and the backend's side of it. */
function opened() {
	const settings = readUdpSettings(UDP);
	const backend = new UdpAudio(settings, cipher);
	const sent: string[] = [];
	const inbox: (ArrayBuffer & { address: string; port: number })[] = [];
	const events: string[] = [];
	let readable: (count: number) => void = () => {};
	let resolve: { onResolved(host: string, address: string): void; onError(): void } | undefined;
	let failure: Error | undefined;
	class FakeUdp {
		constructor({ onReadable }: { port: number; onReadable(count: number): void }) {
			readable = onReadable;
		}

		read() {
			if (failure !== undefined) {
				throw failure;
			}
			return inbox.shift();
		}

		write(data: ArrayBuffer, address: string, port: number): void {
			if (failure !== undefined) {
				throw failure;
			}
			sent.push(`${address}:${port} ${backend.open(new Uint8Array(data)).packet}`);
		}

		close(): void {
			events.push("closed");
		}
	}
	const dns = {
		resolve(options: typeof resolve): void {
			resolve = options;
		},
	};
	const channel = udpOpener(
		{ io: FakeUdp },
		dns,
		cipher,
	)(settings, {
		onPacket: (packet, timestamp) => events.push(`packet ${packet} at ${timestamp}`),
		onDropped: (reason) => events.push(`dropped ${reason}`),
		onFailed: (reason) => events.push(`failed ${reason}`),
	});
	return {
		channel,
		sent,
		events,
		resolved: () => resolve?.onResolved(UDP.server, "10.0.0.7"),
		missing: () => resolve?.onError(),
		break: (error: Error | undefined) => {
			failure = error;
		},
		/** Datagrams of the backend, or of another address or port. */
		arrive(packets: readonly (Uint8Array | undefined)[], address = "10.0.0.7", port = UDP.port): void {
			for (const packet of packets) {
				const { buffer } = packet === undefined ? Uint8Array.of(1) : backend.seal(packet, 0);
				inbox.push(Object.assign(buffer as ArrayBuffer, { address, port }));
			}
			readable(packets.length);
		},
	};
}

export default suite("audio over UDP", {
	"sends the latest packet once the address is known, and each later one": given(opened, (udp) => {
		udp.channel.send(Uint8Array.of(88, 1), 60);
		udp.channel.send(Uint8Array.of(88, 2), 60);
		equal(udp.sent, []);
		udp.resolved();
		udp.channel.send(Uint8Array.of(88, 3), 60);
		equal(udp.sent, ["10.0.0.7:1884 88,2", "10.0.0.7:1884 88,3"]);
	}),
	"takes datagrams of the backend alone, and counts what it cannot read": given(opened, (udp) => {
		udp.arrive([PACKET]);
		udp.resolved();
		udp.arrive([PACKET], "10.0.0.8");
		udp.arrive([PACKET], "10.0.0.7", 9);
		udp.arrive([PACKET, undefined, PACKET]);
		equal(udp.events, ["packet 88,1,2 at 0", "dropped 1 bytes, no more than a header", "packet 88,1,2 at 0"]);
	}),
	"stands an empty packet for one that was lost": given(opened, (udp) => {
		udp.resolved();
		udp.arrive([PACKET]);
		udp.arrive([PACKET], "10.0.0.8");
		udp.arrive([PACKET]);
		equal(udp.events, ["packet 88,1,2 at 0", "packet  at 0", "packet 88,1,2 at 0"]);
	}),
	"a socket that cannot send or read is reported, and works again": given(opened, (udp) => {
		udp.resolved();
		udp.break(new Error("UDP failed"));
		udp.channel.send(PACKET, 0);
		udp.arrive([PACKET]);
		udp.break(undefined);
		udp.channel.send(PACKET, 0);
		udp.arrive([PACKET]);
		equal(udp.events, ["dropped UDP failed", "dropped UDP failed", "packet 88,1,2 at 0"]);
		equal(udp.sent.length, 1);
	}),
	"reports a name that nobody knows, unless it was closed meanwhile": given(opened, (udp) => {
		udp.missing();
		udp.channel.close();
		udp.missing();
		equal(udp.events, ["failed audio.example: address not found", "closed"]);
	}),
	"closes its socket if the name cannot be looked up"() {
		let closed = 0;
		class FakeUdp {
			read(): undefined {}
			write(): void {}
			close(): void {
				closed += 1;
			}
		}
		const dns = {
			resolve() {
				throw new Error("no network");
			},
		};
		const ignore = (): void => {};
		const events = { onPacket: ignore, onDropped: ignore, onFailed: ignore };
		throws(() => udpOpener({ io: FakeUdp }, dns, cipher)(readUdpSettings(UDP), events), /^no network$/);
		equal(closed, 1);
	},
	"sends nothing after it was closed": given(opened, (udp) => {
		udp.channel.send(PACKET, 0);
		udp.channel.close();
		udp.resolved();
		udp.arrive([PACKET]);
		equal([udp.sent, udp.events], [[], ["closed"]]);
	}),
	"a packet arrives as it was sent": given(pair, ({ sender, receiver }) => {
		const datagram = sender.seal(PACKET, 123_456);
		equal([...datagram.subarray(0, 16)], [1, 0, 0, 3, 0, 0, 0, 7, 0, 1, 0xe2, 0x40, 0, 0, 0, 1]);
		const { packet, lost } = receiver.open(datagram);
		equal([[...packet], lost], [[...PACKET], 0]);
	}),
	"keeps a timestamp unless the key stream would be used twice": given(pair, ({ sender, receiver }) => {
		const long = new Uint8Array(40).fill(88);
		const at = (packet: Uint8Array, timestamp: number) => receiver.open(sender.seal(packet, timestamp)).timestamp;
		// Three blocks: the counter of the first packet reaches the next two.
		equal([at(long, 500), at(long, 500), at(long, 500)], [500, 501, 502]);
		equal([at(long, 500), at(long, 90), at(PACKET, 0), at(PACKET, 0)], [500, 90, 0, 0]);
	}),
	"tells how many packets were lost, at most three, and none before the first": given(pair, ({ sender, receiver }) => {
		const lost = [3, 1, 2, 4, 40].map((count) => {
			let datagram: Uint8Array = new Uint8Array(0);
			for (let sent = 0; sent < count; sent += 1) {
				datagram = sender.seal(PACKET, 0);
			}
			return receiver.open(datagram).lost;
		});
		equal(lost, [0, 0, 1, 3, 3]);
	}),
	"a hello whose channel cannot be used is rejected with the member's name, without the key"() {
		for (const [member, value] of [
			["server", ""],
			["server", 7],
			["port", 0],
			["port", 65_536],
			["port", "1884"],
			["key", "00"],
			["key", `${UDP.key}00`],
			["key", "zz0102030405060708090a0b0c0d0e0f"],
			["nonce", undefined],
		] as const) {
			const { message } = throws(
				() => readUdpSettings({ ...UDP, [member]: value }),
				new RegExp(`udp\\.${member}: expected`),
			);
			ok(member !== "key" || value === undefined || !message.includes(String(value)), message);
		}
		throws(() => readUdpSettings(null), /udp.server: expected/);
	},
	async "a backend's channel carries what it says and what the device hears, without frames"() {
		const { application, channel, codec, opened, sent } = connected(UDP);
		const [{ settings, onPacket }] = opened as [(typeof opened)[0]];
		equal([settings.server, settings.port, settings.key.byteLength], [UDP.server, UDP.port, 16]);
		onPacket(PACKET, 60);
		channel.say({ type: "tts", state: "start" });
		onPacket(PACKET, 60);
		onPacket(new Uint8Array(0), 0);
		equal(codec.calls, ["stop", "begin 24000 60", "play 88,1,2", "play "]);
		application.talk.stopListening();
		channel.say({ type: "tts", state: "stop" });
		codec.played();
		await settled();
		application.talk.listen();
		codec.recorded(9, 9);
		equal(sent.at(-1), [9, 9]);
	},
	"the backend learns from a silent packet where the device is, again whenever it begins to speak"() {
		const { channel, sent } = connected(UDP);
		equal(sent, [[0x58]]);
		channel.say({ type: "tts", state: "start" });
		equal(sent, [[0x58], [0x58]]);
	},
	"one datagram with a number far ahead, or of another duration, does not make the next ones old"() {
		for (const [number, packet, reason] of [
			[4_000_000_000, PACKET, /^number 4000000000, too far after (the start|1)$/],
			[7, Uint8Array.of(0x08, 1, 2), /^20 ms, not 60 as before, or a wrong key$/],
			[7, Uint8Array.of(0xff), /^no packet of Opus$/],
		] as const) {
			const { sender, receiver } = pair();
			const forged = (): Uint8Array => {
				const { sender: forger } = pair();
				Object.assign(forger, { sent: number - 1 });
				return forger.seal(packet, 0);
			};
			if (number > 1_000) {
				throws(() => receiver.open(forged()), reason);
			}
			receiver.open(sender.seal(PACKET, 0));
			throws(() => receiver.open(forged()), reason);
			equal([...receiver.open(sender.seal(PACKET, 0)).packet], [...PACKET]);
		}
	},
	"after a long gap loses one packet": given(pair, ({ sender, receiver }) => {
		receiver.open(sender.seal(PACKET, 0));
		Object.assign(sender, { sent: 100_000 });
		throws(() => receiver.open(sender.seal(PACKET, 0)), /too far after 1$/);
		equal(receiver.open(sender.seal(PACKET, 0)).lost, 3);
	}),
	"accepts another duration of the next packet, and after a lost one once it comes again": given(
		pair,
		({ receiver }) => {
			const mixed = datagrams(range(1, 100), (number) => (number % 2 === 0 ? Uint8Array.of(0x08, 1) : PACKET));
			equal(accepted(receiver, mixed).length, 100);
			const shorter = datagrams([102, 104, 105], () => Uint8Array.of(0x10, 1));
			equal(accepted(receiver, shorter), [104, 105]);
		},
	),
	"begins with any number, and goes on after the highest one"() {
		for (const [numbers, refused] of [
			[range(0, 4), 0],
			[range(50, 4), 1],
			[range(0xffff_fffe, 4), 1],
		] as const) {
			equal(
				accepted(pair().receiver, datagrams(numbers)),
				numbers.slice(refused).map((number) => number >>> 0),
			);
		}
	},
	"a sender that counts anew loses one packet"() {
		for (const before of [10, 100, 1_000]) {
			for (const first of [0, 1]) {
				const { receiver } = pair();
				accepted(receiver, datagrams(range(1, before)));
				equal(accepted(receiver, datagrams(range(first, 80))), range(first + 1, 79));
			}
		}
	},
	"repeated packets that do not follow one another are refused, and packets that come late": given(
		pair,
		({ receiver }) => {
			accepted(receiver, datagrams(range(1, 200)));
			equal(accepted(receiver, datagrams([1, 1, 3, 5, 4, 60, 160, 161, 199, 200, 200])), []);
			equal(accepted(receiver, datagrams([7, 201, 8, 202])), [201, 202]);
		},
	),
	"two repeated packets in a row take one packet from the sender": given(pair, ({ receiver }) => {
		accepted(receiver, datagrams(range(1, 200)));
		equal(accepted(receiver, datagrams([6, 7, ...range(201, 9)])), [7, ...range(202, 8)]);
	}),
	"a rejected packet is forgotten once another one is accepted": given(pair, ({ receiver }) => {
		accepted(receiver, datagrams([1]));
		equal(accepted(receiver, datagrams([1_000_000, 2, 1_000_001, 3])), [2, 3]);
	}),
	async "a person who speaks is told why if the channel's server is not found"() {
		const { application, codec, opened, closed, log } = connected(UDP);
		opened[0]?.onFailed("audio.example: address not found");
		const reason = "no audio over UDP: audio.example: address not found";
		equal([closed(), log.includes(reason)], [1, true]);
		Object.assign(application.backend.protocol?.transport ?? {}, { name: "udp" });
		application.talk.listen();
		codec.recorded(9);
		await settled();
		equal([application.state, log.includes(`cannot record: ${reason}`)], ["idle", true]);
	},
	"a channel ends with its session, and what was dropped is counted"() {
		const { channel, opened, closed, log } = connected(UDP);
		opened[0]?.onDropped("number 1, after 2");
		ok(log.includes("audio dropped: number 1, after 2"));
		channel.say({ type: "goodbye", session_id: "s-1" });
		equal(closed(), 1);
	},
	"a channel is opened anew if the backend says hello again"() {
		const { channel, opened, closed } = connected(UDP);
		channel.say({ type: "hello", transport: "udp", session_id: "s-2", udp: UDP });
		equal([opened.length, closed()], [2, 1]);
	},
	"a hello with a wrong key is logged, and the session goes on"() {
		const { application, opened, log } = connected({ ...UDP, key: "k" });
		equal([application.state, opened.length], ["idle", 0]);
		ok(log.includes("no audio over UDP: udp.key: expected 32 hexadecimal digits"));
	},
});
