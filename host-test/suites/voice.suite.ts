import conversation from "../../src/features/conversation/feature.js";
import { expectOk } from "../../src/features/http.js";
import { writeFrame } from "../../src/features/voice/audio-frames.js";
import type { Board, HttpRequest } from "../../src/hardware/hardware.js";
import { boardWithParts, FakeBoard, FakeCodec } from "../doubles/fake-board.js";
import type { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { OPUS_HEAD, OPUS_TAGS, oggFile } from "../doubles/ogg-file.js";
import { SMALL_BUILD, start, voice } from "../doubles/started-application.js";
import { connect } from "../doubles/websocket-session.js";
import { equal, failureOf, given, matches, ok, settled, suite } from "../harness.js";

const VOICED = { features: [...SMALL_BUILD, voice] };
const PACKET = [88, 1, 2];

const frame = (...bytes: readonly number[]): ArrayBuffer => Uint8Array.from(bytes).buffer;
const tts = (state: string): object => ({ type: "tts", state });

function lastSaid({ channel }: ReturnType<typeof speaking>): object | undefined {
	const said = channel.sent.map((each) => JSON.parse(String(each))).filter(({ type }) => type !== "mcp");
	const { session_id: _, ...message } = said.at(-1);
	return message;
}

function speaking(audio?: object, more: object = {}) {
	const codec = new FakeCodec();
	const board = Object.assign(boardWithParts(), { codec });
	const started = start(board, {}, undefined, { ...VOICED, ...more });
	const { channel } = started.transport;
	channel.events.onOpen();
	channel.say({ type: "hello", transport: "fake", session_id: "s-1", audio_params: audio });
	codec.calls.length = 0;
	const hear = (...bytes: readonly number[]): void => channel.events.onBinary?.(frame(...bytes));
	return { ...started, codec, ...board.buttons, ...board.lights, channel, hear };
}

/** Plays a file of these packets. It arrives at once, or with `late` once `resume` is called. */
function playing(
	packets: readonly (readonly number[])[],
	{ file, status = 200, late }: { file?: Uint8Array; status?: number; late?: readonly (readonly number[])[] } = {},
) {
	const sound = packets.map((packet) => Uint8Array.from(packet));
	const pieces = [file ?? oggFile([OPUS_HEAD, OPUS_TAGS, ...sound])];
	if (late !== undefined) {
		pieces.push(oggFile(late.map((packet) => Uint8Array.from(packet))));
	}
	const codec = new FakeCodec();
	codec.end = async () => void codec.calls.push("end");
	let resume = (): void => {};
	const resumed = new Promise<void>((resolve) => {
		resume = resolve;
	});
	let cancelled = 0;
	const download = async ({ onPiece }: HttpRequest): Promise<void> => {
		for (const [at, piece] of pieces.entries()) {
			if (at > 0) {
				await resumed;
			}
			await onPiece?.(piece.slice().buffer as ArrayBuffer, undefined);
		}
	};
	const http = {
		request: (request: HttpRequest) =>
			new Promise((resolve, reject) => {
				const fail = ({ message }: Error): void => reject(new Error(`${request.url}: ${message}`));
				request.onOpen?.(() => {
					cancelled += 1;
					fail(new Error("cancelled"));
				});
				const end = status === 200 ? download(request).catch(fail) : Promise.resolve();
				end.then(() => expectOk({ status, body: new ArrayBuffer(0) }, request)).then(resolve, reject);
			}),
	};
	const board = Object.assign(boardWithParts(), { codec, http });
	const started = start(board, {}, undefined, VOICED);
	const { channel } = started.transport;
	channel.greet();
	codec.calls.length = 0;
	let count = 0;
	const { playOpusFile } = started.application.board as Board;
	const end = failureOf(playOpusFile?.("http://h/a.ogg", () => (count += 1)) ?? Promise.reject(new Error("no http")));
	const played = (): number => codec.calls.filter((each) => each.startsWith("play")).length;
	const side = { codec, channel, end, played, begun: () => count };
	return { ...started, ...board.buttons, ...side, resume, cancelled: () => cancelled };
}

export default suite("voice", {
	"tells the codec's format in the hello, and that there is one": given(speaking, ({ channel, codec }) => {
		const { audio_params, features } = JSON.parse(channel.sent[0] as string);
		equal([audio_params, features], [codec.params, { mcp: true, audio: true }]);
	}),
	"a board without a codec takes no binary messages, and names the family's format without having the feature"() {
		const withCodec = Object.assign(new FakeBoard(), { codec: new FakeCodec() });
		for (const { transport } of [
			start(new FakeBoard(), {}, undefined, VOICED),
			// So does a build without the feature.
			start(withCodec),
		]) {
			transport.channel.events.onOpen();
			const { audio_params, features } = JSON.parse(transport.channel.sent[0] as string);
			equal([audio_params.format, features], ["opus", { mcp: true }]);
			equal(transport.channel.events.onBinary, undefined);
		}
	},
	async "a person who speaks is told why if a backend over MQTT has offered no audio"() {
		const codec = new FakeCodec();
		const board = Object.assign(boardWithParts(), { codec });
		const { application, transport, log } = start(board, { name: "udp" }, undefined, VOICED);
		transport.channel.greet();
		board.buttons.boot.press();
		codec.recorded(...PACKET);
		await settled();
		equal(application.state, "idle");
		const reason = "the backend offers no audio over UDP";
		ok(log.includes(`cannot record: ${reason}`));
		equal(board.shown.at(-1), { alert: { status: "Error", message: reason } });
	},
	"plays what comes between tts start and stop, in the backend's format"() {
		const { channel, codec, hear } = speaking({ format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 20 });
		channel.say(tts("start"));
		hear(...PACKET);
		channel.say({ ...tts("sentence_start"), text: "Hello." });
		hear(9);
		channel.say(tts("stop"));
		equal(codec.calls, ["stop", "begin 16000 20", "play 88,1,2", "play 9", "end"]);
	},
	async "speaks until the last sound was played, or cannot be, and says so"() {
		for (const error of [undefined, new Error("no output")]) {
			const { application, channel, codec, log } = speaking();
			channel.say(tts("start"));
			channel.say(tts("stop"));
			equal(application.state, "speaking");
			codec.played(error);
			await settled();
			equal(application.state, "idle");
			equal(
				log.some((line) => line.includes("not played to its end: no output")),
				error !== undefined,
			);
		}
	},
	async "goes on speaking if the backend begins anew before that"() {
		const { application, channel, codec } = speaking();
		channel.say(tts("start"));
		channel.say(tts("stop"));
		channel.say(tts("start"));
		equal(codec.calls.slice(2), ["end", "stop", "begin 24000 60"]);
		await settled();
		equal(application.state, "speaking");
	},
	async "a backend whose format cannot be played is not heard, and its text still counts"() {
		const { application, channel, codec, hear, log } = speaking({ format: "pcm" });
		channel.say(tts("start"));
		equal(application.state, "speaking");
		hear(...PACKET);
		channel.say(tts("stop"));
		await settled();
		equal([application.state, codec.calls], ["idle", ["stop"]]);
		ok(log.some((line) => line.includes('audio_params.format: expected opus, got "pcm"')));
	},
	"a member of the format that Opus cannot have is named"() {
		for (const [member, value] of [
			["sample_rate", 44_100],
			["channels", 6],
			["frame_duration", "long"],
		] as const) {
			const { channel, log } = speaking({ [member]: value });
			channel.say(tts("start"));
			ok(
				log.some((line) => line.includes(`audio_params.${member}: expected`)),
				member,
			);
		}
	},
	"drops what comes before start and after stop, and counts it": given(speaking, ({ channel, codec, hear, log }) => {
		for (let count = 0; count < 100; count += 1) {
			hear(...PACKET);
		}
		channel.say(tts("start"));
		channel.say(tts("stop"));
		hear(...PACKET);
		equal(codec.calls, ["stop", "begin 24000 60", "end"]);
		const dropped = log.filter((line) => line.startsWith("audio dropped"));
		equal(dropped, [
			"audio dropped: the backend has not begun to speak",
			"audio dropped: the backend has not begun to speak (10 so far)",
			"audio dropped: the backend has not begun to speak (100 so far)",
		]);
	}),
	async "a backend that never stops is silenced by a press, is told, and what it goes on sending is dropped"() {
		const { application, channel, codec, boot, hear, log } = speaking();
		channel.say(tts("start"));
		boot.press();
		equal(JSON.parse(String(channel.sent.at(-1))).type, "abort");
		for (let count = 0; count < 1_000; count += 1) {
			hear(...PACKET);
		}
		equal([codec.calls, application.state], [["stop", "begin 24000 60", "stop"], "speaking"]);
		equal(log.filter((line) => line.startsWith("audio dropped")).length, 4);
		channel.say(tts("stop"));
		await settled();
		equal(application.state, "idle");
	},
	"packets of an old session are not played in the next one": given(speaking, ({ channel, codec, hear }) => {
		channel.say(tts("start"));
		channel.say({ type: "goodbye" });
		channel.say({ type: "hello", transport: "fake", session_id: "s-2" });
		codec.calls.length = 0;
		hear(...PACKET);
		equal(codec.calls, []);
	}),
	"drops what it cannot read, and what the codec does not take; the session goes on"() {
		const { application, channel, codec, hear, log } = speaking();
		channel.say(tts("start"));
		hear();
		channel.events.onBinary?.(new ArrayBuffer(5_000));
		codec.failure = new Error("too many packets wait");
		hear(...PACKET);
		equal([application.state, codec.calls.length], ["speaking", 2]);
		matches(log.at(-1) as string, /^audio dropped: empty$/);
	},
	"is silent at once when the session ends": given(speaking, ({ channel, codec }) => {
		channel.say(tts("start"));
		codec.calls.length = 0;
		channel.say({ type: "goodbye" });
		equal(codec.calls[0], "stop");
	}),
	"records while it listens, and the packets are framed as the connection wants"() {
		const { application, codec, channel } = speaking();
		application.talk.listen();
		equal(application.state, "listening");
		equal(codec.calls, ["record"]);
		// This connection has no binary messages.
		codec.recorded(...PACKET);
		channel.say(tts("start"));
		equal(codec.calls.slice(1), ["stop recording", "stop", "begin 24000 60"]);
	},
	"in realtime, records and sends while the assistant speaks, and does not begin to listen again"() {
		const side = speaking(undefined, { built: { listenMode: "realtime" } });
		const { application, channel, codec, boot } = side;
		boot.press();
		equal(lastSaid(side), { type: "listen", state: "start", mode: "realtime" });
		channel.say(tts("start"));
		const sent: unknown[] = [];
		Object.assign(channel, { sendNow: (packet: unknown) => sent.push(packet) > 0 });
		codec.recorded(...PACKET);
		equal([application.state, sent.length], ["speaking", 1]);
		boot.press();
		equal(lastSaid(side), { type: "abort" });
		channel.say(tts("stop"));
		codec.recorded(...PACKET);
		equal([application.state, sent.length], ["listening", 2]);
		equal(lastSaid(side), { type: "abort" });
		equal(
			codec.calls.filter((each) => each.includes("record")),
			["record"],
		);
		boot.press();
		equal([lastSaid(side), codec.calls.at(-1)], [{ type: "listen", state: "stop" }, "stop recording"]);
	},
	"in realtime, names echo cancelling where frames have timestamps, and echoes those of what is played"() {
		for (const [version, hasAec] of [
			[1, undefined],
			[2, true],
			[3, undefined],
		] as const) {
			const codec = new FakeCodec();
			const board = Object.assign(boardWithParts(), { codec });
			const host = { ...VOICED, built: { listenMode: "realtime" }, ticks: () => 9_999 };
			const { transport, application } = start(board, { version }, undefined, host);
			transport.channel.greet();
			equal(JSON.parse(transport.channel.sent[0] as string).features.aec, hasAec);
			if (version === 2) {
				const sent: Uint8Array[] = [];
				Object.assign(transport.channel, { sendNow: (frame: Uint8Array) => sent.push(frame) > 0 });
				application.talk.listen();
				codec.recorded(...PACKET);
				transport.channel.say(tts("start"));
				transport.channel.events.onBinary?.(writeFrame(Uint8Array.from(PACKET), 2, 4_020).buffer as ArrayBuffer);
				codec.echo = codec.timestamps[0] ?? 0;
				codec.recorded(...PACKET);
				const stamps = sent.map(({ buffer }) => new DataView(buffer).getUint32(8));
				equal([codec.timestamps, stamps], [[4_020], [0, 4_020]]);
			}
		}
	},
	async "plays a file of Ogg Opus to its end"() {
		const side = playing([PACKET, PACKET]);
		equal([await side.end, side.begun()], ["none", 1]);
		equal(side.codec.calls.slice(1), ["begin 24000 60", "play 88,1,2", "play 88,1,2", "end", "stop"]);
	},
	async "stops a file at a press, when the assistant speaks, and when the device listens"() {
		for (const stop of [
			(side: ReturnType<typeof playing>) => side.side.press(),
			(side: ReturnType<typeof playing>) => side.channel.say(tts("start")),
			(side: ReturnType<typeof playing>) => side.application.talk.listen(),
		]) {
			const side = playing([PACKET, PACKET]);
			// The first packet was played at once.
			side.codec.isFull = true;
			await settled();
			stop(side);
			side.codec.isFull = false;
			await side.timer.passed(60_000);
			equal([await side.end, side.played()], ["none", 1]);
		}
	},
	async "plays the rest of a file after a gap in its download"() {
		const side = playing([PACKET, PACKET], { late: [PACKET] });
		await side.timer.passed(60_000);
		equal(side.played(), 2);
		side.resume();
		equal([await side.end, side.played()], ["none", 3]);
	},
	async "waits for room in the codec, but not for ever"() {
		for (const isFreed of [true, false]) {
			const side = playing([PACKET, PACKET]);
			// The first packet was played at once.
			side.codec.isFull = true;
			await side.timer.passed(20);
			side.codec.isFull = !isFreed;
			for (let count = 0; count < 300; count += 1) {
				await side.timer.passed(20);
			}
			matches(String(await side.end), isFreed ? /^none$/ : /a.ogg: too many packets wait to be played$/);
			equal(side.played(), isFreed ? 2 : 1);
		}
	},
	async "cancels the download of a file that is stopped"() {
		const side = playing([PACKET], { late: [PACKET] });
		await settled();
		equal(side.cancelled(), 0);
		side.side.press();
		equal([await side.end, side.cancelled()], ["none", 1]);
		side.resume();
		await settled();
		equal(side.played(), 1);
	},
	async "rejects a file that is none, is cut off, or cannot be loaded, with the reason"() {
		for (const [file, status, reason] of [
			[Uint8Array.of(...new Array(40).fill(1)), 200, /not an Ogg file/],
			[oggFile([OPUS_HEAD, OPUS_TAGS]).subarray(0, 60), 200, /Ogg: the file is cut off/],
			[oggFile([OPUS_HEAD, OPUS_TAGS]), 200, /Ogg: the file has no sound/],
			[new Uint8Array(0), 404, /answered with HTTP status 404/],
		] as const) {
			matches(String(await playing([], { file, status }).end), reason);
		}
	},
	"in realtime, records nothing of an assistant that speaks unasked": given(
		() => speaking(undefined, { built: { listenMode: "realtime" } }),
		({ application, channel, codec }) => {
			channel.say(tts("start"));
			equal([application.state, codec.calls], ["speaking", ["stop", "begin 24000 60"]]);
		},
	),
	"refuses realtime by name on a board that cannot record while it plays"() {
		const codec = Object.assign(new FakeCodec(), { isFullDuplex: false });
		const { application } = start(Object.assign(boardWithParts(), { codec }), {}, undefined, {
			...VOICED,
			built: { listenMode: "realtime" },
		});
		equal(application.state, "fatal_error");
		matches(application.failure ?? "", /^listenMode: realtime: this board cannot record while it plays/);
	},
	"listens when the backend asks, and until it has heard enough": given(speaking, (side) => {
		side.channel.say({ type: "listen", state: "start" });
		equal([side.application.state, lastSaid(side)], ["listening", { type: "listen", state: "start", mode: "auto" }]);
		side.channel.say({ type: "listen", state: "stop" });
		equal([side.application.state, lastSaid(side)], ["idle", { type: "listen", state: "stop" }]);
		equal(side.codec.calls, ["record", "stop recording"]);
	}),
	async "listens after a call from another device"() {
		const side = speaking(undefined, { features: [...SMALL_BUILD, conversation, voice] });
		side.application.board.assistant?.wake("call from the kitchen");
		const said = side.channel.sent.map((each) => JSON.parse(String(each))).filter(({ type }) => type === "listen");
		equal(
			said.map(({ state }) => state),
			["detect", "start"],
		);
		equal(side.application.state, "listening");
	},
	"says so again if it listens already": given(speaking, (side) => {
		side.application.talk.listen();
		side.channel.say({ type: "listen", state: "start" });
		equal([side.application.state, lastSaid(side)], ["listening", { type: "listen", state: "start" }]);
		equal(side.codec.calls, ["record"]);
	}),
	"says why it does not listen: its microphone is muted, or it is busy": given(speaking, (side) => {
		side.codec.muted = true;
		side.channel.say({ type: "listen", state: "start" });
		equal([side.application.state, lastSaid(side)], ["idle", { type: "listen", state: "stop", reason: "muted" }]);
		side.codec.muted = false;
		side.channel.say(tts("start"));
		side.channel.say({ type: "listen", state: "start" });
		equal(lastSaid(side), { type: "listen", state: "stop", reason: "speaking" });
		equal(side.application.state, "speaking");
	}),
	"has no microphone: it says so, and no light is red": given(speaking, (side) => {
		Object.assign(side.codec, { record: undefined });
		side.channel.say({ type: "listen", state: "start" });
		const reason = "no microphone";
		equal([side.application.state, lastSaid(side)], ["idle", { type: "listen", state: "stop", reason }]);
		side.application.talk.listen();
		equal([side.application.state, side.lamp.on], ["listening", false]);
	}),
	"the first light is red while it listens, and then as it was": given(speaking, ({ application, lamp, led }) => {
		application.talk.listen();
		equal([lamp, led], [{ on: true, brightness: 50, color: 0xff0000 }, { on: false }]);
		application.talk.stopListening();
		equal([lamp, led], [{ on: false, brightness: 50, color: 0xffffff }, { on: false }]);
	}),
	"a light that was set meanwhile stays so": given(speaking, ({ application, lamp }) => {
		application.talk.listen();
		Object.assign(lamp, { on: true, color: 0x0000ff });
		application.talk.stopListening();
		equal(lamp, { on: true, brightness: 50, color: 0x0000ff });
	}),
	"stops listening if it cannot record, without its light": given(speaking, async (side) => {
		side.codec.failure = new Error("no memory");
		side.application.talk.listen();
		equal([side.application.state, side.lamp.on], ["listening", false]);
		await settled();
		equal([side.application.state, lastSaid(side)], ["idle", { type: "listen", state: "stop" }]);
		ok(side.log.includes("cannot record: no memory"));
	}),
	"what was recorded is sent past the queue in the framing of each version, or dropped"() {
		for (const protocolVersion of [1, 2, 3] as const) {
			const { protocol, client } = connect({ protocolVersion, onAudio() {} });
			client.grant(10_000);
			equal(protocol.sendBinary(Uint8Array.from(PACKET)), false, "before the hello");
			client.arrive(['{"type":"hello","session_id":"s"}']);
			client.grant(10_000);
			const packet = writeFrame(Uint8Array.from(PACKET), protocol.transport.version, 5);
			equal(protocol.sendBinary(packet), true);
			const { bytes, options } = client.written.at(-1) as FakeWebSocketClient["written"][0];
			equal([[...bytes], options.binary], [[...packet], true]);
			client.grant(1);
			equal(protocol.sendBinary(packet), false, "without room");
			protocol.send("a text that waits");
			equal(protocol.sendBinary(packet), false, "behind a text");
		}
	},
});
