import { expectOk } from "../../src/features/http.js";
import type { HttpRequest, HttpResponse } from "../../src/hardware/hardware.js";
import type { SoundReader } from "../../src/hardware/sound.js";
import { Client, TOOLS, type Wire } from "../doubles/client.js";
import { FakeBoard, FakePlayer } from "../doubles/fake-board.js";
import { wavFile } from "../doubles/wav.js";
import { equal, given, matches, settled, suite } from "../harness.js";

const URL = "http://host/a.wav";

function open(file: Uint8Array, { status = 200, size = 50 } = {}) {
	const player = new FakePlayer();
	const asked: HttpRequest[] = [];
	const http = {
		async request(request: HttpRequest): Promise<HttpResponse> {
			asked.push(request);
			for (let at = 0; at < file.byteLength && status === 200; at += size) {
				await request.onPiece?.(file.slice(at, at + size).buffer, file.byteLength);
			}
			return expectOk({ status, body: new ArrayBuffer(0) }, request);
		},
	};
	const client = new Client({ context: { ...new FakeBoard(), player, http }, tools: TOOLS });
	const call = async (name: string, args: object = {}, params: object = {}): Promise<Wire> => {
		const heard = await client.request("tools/call", { name, arguments: args, ...params });
		// A long file comes in many turns.
		for (let turn = 0; turn < 100; turn += 1) {
			await settled();
		}
		return [...heard, ...client.heard()];
	};
	return { player, asked, client, call };
}

/** Reads bytes as samples. */
class FakeReader implements SoundReader {
	readonly sampleRate = 22_050;
	readonly #calls: string[];
	readonly #fault: Error | undefined;

	constructor(calls: string[], fault?: Error) {
		this.#calls = calls;
		this.#fault = fault;
	}

	*read(piece?: Uint8Array): Iterable<Uint8Array> {
		if (this.#fault !== undefined) {
			throw this.#fault;
		}
		if (piece === undefined) {
			this.#calls.push("end");
		} else {
			yield piece;
		}
	}

	close(): void {
		this.#calls.push("close");
	}
}

const play = "self.audio_speaker.play";
const SAMPLES = Array.from({ length: 400 }, (_, at) => at & 255);

const openSamples = () => open(wavFile(SAMPLES));

export default suite("tools for sound", {
	async "play a WAV file piece by piece, to its end"() {
		const { player, asked, call } = open(wavFile(SAMPLES, { sampleRate: 24_000 }));
		const [answer] = await call(play, { url: URL });
		equal(answer.result.content[0].text, "true");
		equal([asked[0]?.method, asked[0]?.url, player.sounds.length], ["GET", URL, 1]);
		const [sound] = player.sounds;
		equal([sound?.sampleRate, sound?.bytes, sound?.state], [24_000, SAMPLES, "ended"]);
	},
	async "play a file of the firmware"() {
		const { player, asked, call } = open(wavFile([]));
		const file = wavFile(new Uint8Array(5_000).fill(7), { sampleRate: 24_000 }).buffer as ArrayBuffer;
		player.files = { names: ["ding.wav"], open: (name) => (name === "ding.wav" ? file : undefined) };
		const [answer] = await call(play, { url: "resource:ding.wav" });
		equal(answer.result.content[0].text, "true");
		const [sound] = player.sounds;
		equal([asked.length, sound?.sampleRate, sound?.bytes.length, sound?.state], [0, 24_000, 5_000, "ended"]);
	},
	async "name the firmware's files if the one that was asked for does not exist"() {
		const { player, call } = open(wavFile([]));
		const message = async (): Promise<string> => (await call(play, { url: "resource:dong.wav" }))[0].error.message;
		equal(await message(), "resource:dong.wav not found; sound files of this firmware: none");
		player.files = { names: ["ding.wav", "door.pcm"], open: () => undefined };
		equal(await message(), "resource:dong.wav not found; sound files of this firmware: ding.wav, door.pcm");
		equal(player.sounds, []);
	},
	async "play raw samples whose rate the call names, whatever their pieces"() {
		for (const size of [7, 50]) {
			const { player, call } = open(Uint8Array.from(SAMPLES), { size });
			const [answer] = await call(play, { url: URL, sampleRate: 8_000 });
			equal(answer.result.content[0].text, "true");
			equal([player.sounds[0]?.sampleRate, player.sounds[0]?.bytes], [8_000, SAMPLES]);
		}
		const { player, call } = open(Uint8Array.from(SAMPLES));
		matches((await call(play, { url: URL, sampleRate: 96_000 }))[0].error.message, /^sampleRate: expected/);
		equal(player.sounds, []);
	},
	"fetch no more while the player has no room": given(openSamples, async ({ player, call }) => {
		player.hasRoom = false;
		equal(await call(play, { url: URL }), []);
		equal(player.sounds[0]?.pieces.length, 1);
	}),
	async "report seconds of sound as progress, if the client asks for it"() {
		const { call } = open(wavFile(new Uint8Array(40_000), { sampleRate: 8_000 }), { size: 4_000 });
		const heard = await call(play, { url: URL }, { _meta: { progressToken: "p" } });
		const reports = heard.filter(({ method }: Wire) => method === "notifications/progress");
		const progress = reports.map(({ params }: Wire) => [params.progressToken, params.progress]);
		equal(progress, [
			["p", 1],
			["p", 2],
		]);
	},
	"stop playing if the client cancels the call": given(openSamples, async ({ player, client, call }) => {
		player.hasRoom = false;
		await call(play, { url: URL });
		client.cancel(1);
		await settled();
		equal([player.sounds[0]?.state, client.heard()], ["stopped", []]);
	}),
	"stop playing if another call says so": given(openSamples, async ({ player, client, call }) => {
		player.hasRoom = false;
		await call(play, { url: URL });
		const [stop, played] = await client.request("tools/call", { name: "self.audio_speaker.stop" }, 2);
		equal([stop.id, stop.result.content[0].text, played.id], [2, "true", 1]);
		matches(played.error.message, /the sound was stopped/);
	}),
	async "say why a file cannot be played, and play nothing"() {
		for (const [file, options, message] of [
			[wavFile([], { bits: 24 }), {}, /24 bits a sample are not supported/],
			[Uint8Array.from({ length: 100 }, () => 65), {}, /not a WAV file/],
			[wavFile(SAMPLES).slice(0, 20), {}, /truncated before its samples/],
			[wavFile(SAMPLES), { status: 404 }, /^http:\/\/host\/a.wav answered with HTTP status 404$/],
		] as const) {
			const { player, call } = open(file, options);
			const [answer] = await call(play, { url: URL });
			matches(answer.error.message, message);
			equal(player.sounds, []);
		}
	},
	async "play a file with the player's own reader, and close that"() {
		const { player, call } = open(Uint8Array.from(SAMPLES));
		const calls: string[] = [];
		player.openReader = () => new FakeReader(calls);
		const [answer] = await call(play, { url: URL });
		equal(answer.result.content[0].text, "true");
		const [sound] = player.sounds;
		equal([sound?.sampleRate, sound?.bytes, sound?.state], [22_050, SAMPLES, "ended"]);
		equal(calls, ["end", "close"]);
		await call(play, { url: URL, sampleRate: 8_000 });
		equal([player.sounds[1]?.sampleRate, player.sounds[1]?.bytes, calls.length], [8_000, SAMPLES, 2]);
	},
	async "say what plays MP3, if the firmware has no decoder"() {
		for (const head of [
			[0x49, 0x44, 0x33, 4],
			[0xff, 0xfb, 0x90, 0],
			[0xff, 0xf2, 0x90, 0],
		]) {
			const { player, call } = open(Uint8Array.from([...head, ...SAMPLES]));
			const [answer] = await call(play, { url: URL });
			matches(answer.error.message, /^not a WAV file: firmware with src\/sound\/manifest_mp3.json plays MP3$/);
			equal(player.sounds, []);
		}
	},
	async "close the reader of a file that fails, or is stopped"() {
		const calls: string[] = [];
		const { player, call } = open(Uint8Array.from(SAMPLES));
		player.openReader = () => new FakeReader(calls, new Error("MP3: broken"));
		matches((await call(play, { url: URL }))[0].error.message, /MP3: broken$/);
		player.openReader = () => new FakeReader(calls);
		player.hasRoom = false;
		equal(await call(play, { url: URL }), []);
		equal(calls, ["close"]);
		player.stop();
		await settled();
		equal(calls, ["close", "close"]);
	},
	async "ring the chime"() {
		const { player, call } = open(wavFile([]));
		const [answer] = await call("self.audio_speaker.chime");
		equal([answer.result.content[0].text, player.sounds[0]?.state], ["true", "ended"]);
	},
});
