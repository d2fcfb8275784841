import type { AudioParams, Codec } from "../../src/hardware/sound.js";
import { OpusCodec, type PacketDecoder } from "../../src/sound/opus/opus-codec.js";
import { settled } from "../doubles/client.js";
import { FakePlayer } from "../doubles/fake-player.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, suite, throws } from "../harness.js";

/** Of the backend. */
const PARAMS: AudioParams = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 };

/** A decoder whose samples are the bytes of its packets, twice, once the test says so. */
class FakeDecoder implements PacketDecoder {
	readonly parameters: readonly number[];
	readonly decoded: ArrayBuffer[] = [];
	readonly #packets: Uint8Array[] = [];
	isClosed = false;
	isFull = false;
	bad = 0;
	#isComplete = false;

	constructor(parameters: readonly number[]) {
		this.parameters = parameters;
	}

	write(packet: Uint8Array): boolean {
		if (!this.isFull) {
			this.#packets.push(packet.slice());
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
		return this.decoded.shift() ?? (this.#isComplete && this.#packets.length === 0 ? null : undefined);
	}

	close(): number {
		this.isClosed = true;
		return this.bad;
	}

	/** The thread has decoded what it got. */
	decode(): void {
		for (const packet of this.#packets.splice(0)) {
			this.decoded.push(Uint8Array.of(...packet, ...packet).buffer);
		}
	}
}

function open() {
	const player = new FakePlayer();
	const timer = new FakeTimer();
	const decoders: FakeDecoder[] = [];
	const logged: string[] = [];
	const codec = new OpusCodec({
		player,
		timer,
		openDecoder(...parameters) {
			const decoder = new FakeDecoder(parameters);
			decoders.push(decoder);
			return decoder;
		},
		log: (message) => logged.push(message),
	});
	/** The thread decodes, and the codec looks for it. */
	const pass = async (): Promise<void> => {
		decoders[decoders.length - 1]?.decode();
		timer.pass(20);
		await settled();
	};
	return { player, decoders, logged, codec, pass };
}

/** A codec that has begun a sound, with its decoder and sound. */
function begun() {
	const opened = open();
	opened.codec.begin(PARAMS);
	const [decoder] = opened.decoders as [FakeDecoder];
	const [sound] = opened.player.sounds as [FakePlayer["sounds"][0]];
	return { ...opened, decoder, sound };
}

export default suite("a codec with a decoder in a thread of its own", {
	"has no microphone"() {
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
	async "reads no more than the audio out has room for"() {
		const { codec, decoder, sound, pass } = begun();
		sound.hasRoom = false;
		codec.play(Uint8Array.of(1));
		codec.play(Uint8Array.of(2));
		await pass();
		equal([sound.bytes, decoder.decoded.length], [[1, 1], 1]);
		sound.drain();
		await settled();
		equal(sound.bytes, [1, 1, 2, 2]);
	},
	"says that too many packets wait"() {
		const { codec, decoder } = begun();
		decoder.isFull = true;
		throws(() => codec.play(Uint8Array.of(1)), /^too many packets wait to be played$/);
	},
	async "stops at once: whoever waits for the end goes on"() {
		const { codec, decoder, sound, pass } = begun();
		codec.play(Uint8Array.of(1));
		const ended = codec.end();
		codec.stop();
		equal([sound.state, decoder.isClosed], ["stopped", true]);
		await pass();
		await ended;
		equal(sound.bytes, []);
	},
	async "begins anew while another sound is played"() {
		const { codec, decoder, decoders, player, pass } = begun();
		codec.play(Uint8Array.of(1));
		codec.begin({ ...PARAMS, sample_rate: 16_000, frame_duration: 20 });
		equal([decoder.isClosed, decoders[1]?.parameters], [true, [16_000, 320, 9]]);
		codec.play(Uint8Array.of(2));
		await pass();
		equal(
			player.sounds.map(({ bytes }) => bytes),
			[[], [2, 2]],
		);
	},
	async "says why it was not played to its end"() {
		const { codec, decoder, sound, pass } = begun();
		sound.hasRoom = false;
		codec.play(Uint8Array.of(1));
		await pass();
		sound.stop();
		await settled();
		equal(decoder.isClosed, true);
		throws(() => codec.play(Uint8Array.of(2)), /the sound was stopped/);
		equal(await codec.end().catch(({ message }: Error) => message), "the sound was stopped");
		codec.stop();
	},
	async "tells how many packets were no Opus"() {
		const { codec, decoder, pass, logged } = begun();
		decoder.bad = 2;
		const ended = codec.end();
		await pass();
		await ended;
		equal(logged, ["2 packets could not be decoded: no Opus"]);
	},
	"closes the decoder if the player does not play"() {
		const { codec, decoders, player } = open();
		player.begin = () => {
			throw new Error("no memory");
		};
		throws(() => codec.begin(PARAMS), /^no memory$/);
		equal(decoders[0]?.isClosed, true);
		codec.play(Uint8Array.of(1));
	},
});
