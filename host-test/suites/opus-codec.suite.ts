import type { AudioParams, Codec } from "../../src/hardware/sound.js";
import { OpusCodec } from "../../src/sound/opus-codec.js";
import type { OpusThread } from "../../src/sound/opus-threads.js";
import type { AudioIn, AudioInOptions, CodecParts } from "../../src/sound/recording.js";
import { FakePlayer } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, failureOf, given, settled, suite, throws } from "../harness.js";

const PARAMS: AudioParams = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 };

class FakeThread implements OpusThread {
	readonly parameters: readonly (number | undefined)[];
	readonly results: ArrayBuffer[] = [];
	readonly blocks: Uint8Array[] = [];
	isClosed = false;
	isFull = false;
	bad = 0;
	#isComplete = false;

	constructor(...parameters: ConstructorParameters<CodecParts["OpusThread"]>) {
		this.parameters = parameters;
	}

	write(block: Uint8Array): boolean {
		if (!this.isFull) {
			this.blocks.push(block.slice());
		}
		return !this.isFull;
	}

	complete(): void {
		this.#isComplete = true;
	}

	read(): ArrayBuffer | undefined | null {
		if (this.isClosed) {
			throw new Error("closed");
		}
		return this.results.shift() ?? (this.#isComplete && this.blocks.length === 0 ? null : undefined);
	}

	close(): number {
		this.isClosed = true;
		return this.bad;
	}

	work(): void {
		for (const block of this.blocks.splice(0)) {
			this.results.push(Uint8Array.of(...block, ...block).buffer);
		}
	}
}

const FRAME_BYTES = 1_920;

class FakeAudioIn implements AudioIn {
	static made: FakeAudioIn[] = [];
	static failure: Error | undefined;
	readonly options: AudioInOptions;
	state: "new" | "started" | "closed" = "new";
	byte = 0;

	constructor(options: FakeAudioIn["options"]) {
		if (FakeAudioIn.failure !== undefined) {
			throw FakeAudioIn.failure;
		}
		this.options = options;
		FakeAudioIn.made.push(this);
	}

	start(): void {
		this.state = "started";
	}

	read(byteLength: number): ArrayBuffer {
		if (byteLength % 2 === 1) {
			throw new Error("invalid size");
		}
		return new Uint8Array(byteLength).fill(this.byte).buffer;
	}

	close(): void {
		this.state = "closed";
	}

	record(byte: number, bytes: number): void {
		this.byte = byte;
		this.options.onReadable(bytes);
	}
}

function open(channels?: 1 | 2, hasOwnPort = false) {
	const player = new FakePlayer();
	const timer = new FakeTimer();
	const decoders: FakeThread[] = [];
	const encoders: FakeThread[] = [];
	const logged: string[] = [];
	const codec = new OpusCodec({
		player,
		timer,
		channels,
		hasOwnPort,
		AudioIn: FakeAudioIn,
		OpusThread: class extends FakeThread {
			constructor(...parameters: ConstructorParameters<CodecParts["OpusThread"]>) {
				super(...parameters);
				(parameters.length > 2 ? decoders : encoders).push(this);
			}
		},
		log: (message) => logged.push(message),
	});
	const pass = async (): Promise<void> => {
		decoders[decoders.length - 1]?.work();
		encoders[encoders.length - 1]?.work();
		await timer.passed(20);
	};
	return { player, timer, decoders, encoders, logged, codec, pass };
}

function recording() {
	const opened = open(2);
	const packets: Uint8Array[] = [];
	opened.codec.record?.((packet) => packets.push(packet));
	const [encoder] = opened.encoders as [FakeThread];
	return { ...opened, encoder, packets, audioIn: FakeAudioIn.made.at(-1) as FakeAudioIn };
}

function begun() {
	const opened = open();
	opened.codec.begin(PARAMS);
	const [decoder] = opened.decoders as [FakeThread];
	const [sound] = opened.player.sounds as [FakePlayer["sounds"][0]];
	return { ...opened, decoder, sound };
}

export default suite("a codec with libopus in a separate thread", {
	"does not record without a microphone"() {
		equal((open().codec as Codec).record, undefined);
	},
	async "plays what is decoded, at the backend's rate, and ends once all of it was played"() {
		const { codec, decoder, sound, pass, logged } = begun();
		equal([decoder.parameters, sound.sampleRate], [[24_000, 1_440, 3], 24_000]);
		codec.play(Uint8Array.of(1));
		codec.play(Uint8Array.of(2));
		await pass();
		equal(sound.bytes, [1, 1, 2, 2]);
		codec.play(Uint8Array.of(3));
		const ended = codec.end();
		equal(decoder.isClosed, false);
		await pass();
		await ended;
		equal([sound.bytes, sound.state, decoder.isClosed, logged], [[1, 1, 2, 2, 3, 3], "ended", true, []]);
		await codec.end();
	},
	"reads no more than the audio out has room for": given(begun, async ({ codec, decoder, sound, pass }) => {
		sound.hasRoom = false;
		codec.play(Uint8Array.of(1));
		codec.play(Uint8Array.of(2));
		await pass();
		equal([sound.bytes, decoder.results.length], [[1, 1], 1]);
		sound.drain();
		await settled();
		equal(sound.bytes, [1, 1, 2, 2]);
	}),
	"says whether it takes a packet": given(begun, ({ codec, decoder }) => {
		equal(codec.play(Uint8Array.of(1)), true);
		decoder.isFull = true;
		equal(codec.play(Uint8Array.of(1)), false);
	}),
	"waits for no more short packets than the decoder can hold": given(open, ({ codec, decoders }) => {
		codec.begin({ ...PARAMS, frame_duration: 2.5 });
		equal(decoders[0]?.parameters, [24_000, 60, 20]);
	}),
	"stops at once: whoever waits for the end goes on": given(begun, async ({ codec, decoder, sound, pass }) => {
		codec.play(Uint8Array.of(1));
		const ended = codec.end();
		codec.stop();
		equal([sound.state, decoder.isClosed], ["stopped", true]);
		await pass();
		await ended;
		equal(sound.bytes, []);
	}),
	"begins anew while another sound is played": given(begun, async ({ codec, decoder, decoders, player, pass }) => {
		codec.play(Uint8Array.of(1));
		codec.begin({ ...PARAMS, sample_rate: 16_000, frame_duration: 20 });
		equal([decoder.isClosed, decoders[1]?.parameters], [true, [16_000, 320, 9]]);
		codec.play(Uint8Array.of(2));
		await pass();
		const played = player.sounds.map(({ bytes }) => bytes);
		equal(played, [[], [2, 2]]);
	}),
	"says why it was not played to its end": given(begun, async ({ codec, decoder, sound, pass }) => {
		sound.hasRoom = false;
		codec.play(Uint8Array.of(1));
		await pass();
		sound.stop();
		await settled();
		equal(decoder.isClosed, true);
		throws(() => codec.play(Uint8Array.of(2)), /the sound was stopped/);
		equal(await failureOf(codec.end()), "the sound was stopped");
		codec.stop();
	}),
	"tells how many packets were no Opus": given(begun, async ({ codec, decoder, pass, logged }) => {
		decoder.bad = 2;
		const ended = codec.end();
		await pass();
		await ended;
		equal(logged, ["2 packets could not be decoded: no Opus"]);
	}),
	"closes the decoder if the player does not play": given(open, ({ codec, decoders, player }) => {
		player.begin = () => {
			throw new Error("no memory");
		};
		throws(() => codec.begin(PARAMS), /^no memory$/);
		equal(decoders[0]?.isClosed, true);
		codec.play(Uint8Array.of(1));
	}),
	async "records packets of 60 ms, however the audio in delivers the samples"() {
		const { audioIn, encoder, packets, pass, codec, timer, logged } = recording();
		const { audioType, sampleRate, channels, bitsPerSample } = audioIn.options;
		equal([audioType, sampleRate, channels, bitsPerSample, audioIn.state], ["LPCM", 16_000, 2, 16, "started"]);
		equal(encoder.parameters, [16_000, 960]);
		audioIn.record(1, 1_000);
		equal(encoder.blocks, []);
		audioIn.record(2, 3 * FRAME_BYTES - 1_000);
		equal(
			encoder.blocks.map((block) => [block.byteLength, block.indexOf(2)]),
			[
				[FRAME_BYTES, 1_000],
				[FRAME_BYTES, 0],
				[FRAME_BYTES, 0],
			],
		);
		await pass();
		const lengths = packets.map(({ byteLength }) => byteLength);
		equal(lengths, [2 * FRAME_BYTES, 2 * FRAME_BYTES, 2 * FRAME_BYTES]);
		codec.record?.(undefined);
		equal([audioIn.state, encoder.isClosed, timer.size, logged], ["closed", true, 0, []]);
		audioIn.record(3, FRAME_BYTES);
		equal(encoder.blocks, []);
	},
	"plays nothing while it records, and stops what is played before"() {
		const { codec, player, decoders } = open(1);
		codec.begin(PARAMS);
		const other = player.begin(8_000);
		codec.record?.(() => {});
		equal([other.state, decoders[0]?.isClosed, player.isHeld], ["stopped", true, true]);
		codec.record?.(undefined);
		equal(player.isHeld, false);
	},
	"stops recording when the backend speaks": given(recording, ({ codec, audioIn, encoder, player }) => {
		codec.begin(PARAMS);
		equal([audioIn.state, encoder.isClosed, player.isHeld, player.isPlaying], ["closed", true, false, true]);
	}),
	async "with an I2S port for the microphone, it records while it plays, and reports what was played meanwhile"() {
		const { codec, player, encoders, decoders, pass } = open(1, true);
		const stamps: number[] = [];
		codec.record?.((_packet, timestamp) => stamps.push(timestamp));
		codec.begin(PARAMS);
		equal([codec.isFullDuplex, player.isHeld, encoders[0]?.isClosed], [true, false, false]);
		const audioIn = FakeAudioIn.made.at(-1) as FakeAudioIn;
		for (const timestamp of [60, 120, 0, 180, 240]) {
			codec.play(Uint8Array.of(1), timestamp);
		}
		await pass();
		audioIn.record(1, 4 * FRAME_BYTES);
		await pass();
		// The three newest packets are kept of those played long before.
		equal(stamps, [120, 180, 240, 0]);
		codec.record?.(undefined);
		equal([decoders[0]?.isClosed, player.isPlaying], [false, true]);
	},
	"says that the microphone cannot be opened, and plays on"() {
		const { codec, encoders, player, timer } = open(1);
		FakeAudioIn.failure = new Error("already in use");
		throws(() => codec.record?.(() => {}), /^already in use$/);
		FakeAudioIn.failure = undefined;
		equal([encoders[0]?.isClosed, player.isHeld, timer.size], [true, false, 0]);
		codec.begin(PARAMS);
		equal(player.isPlaying, true);
	},
	"tells how much of what was recorded is lost": given(recording, ({ codec, audioIn, encoder, logged }) => {
		encoder.isFull = true;
		encoder.bad = 1;
		audioIn.record(1, 2 * FRAME_BYTES);
		audioIn.record(1, 3);
		codec.record?.(undefined);
		equal(logged, ["recorded samples are lost: invalid size", "3 packets of what was recorded are lost"]);
	}),
	async "sends nothing more once the receiver has ended the recording"() {
		const { codec, audioIn, encoder, pass } = recording();
		let packets = 0;
		codec.record?.(() => {
			packets += 1;
			codec.record?.(undefined);
		});
		equal([encoder.isClosed, audioIn.state], [true, "closed"]);
		FakeAudioIn.made.at(-1)?.record(1, 3 * FRAME_BYTES);
		await pass();
		equal(packets, 1);
	},
});
