import type { Sound } from "../../src/hardware/sound.js";
import { playChime } from "../../src/sound/chime.js";
import { SoundPlayer } from "../../src/sound/sound-player.js";
import { FakeAudioOut } from "../doubles/fake-audio-out.js";
import { FakePlayer } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { inSession } from "../doubles/started-application.js";
import { equal, given, matches, ok, outcomeOf, settled, suite, throws } from "../harness.js";

function open(volume = 100) {
	const timer = new FakeTimer();
	const player = new SoundPlayer(FakeAudioOut, timer, volume);
	const begin = (sampleRate = 16_000): { sound: Sound; out: FakeAudioOut } => {
		const sound = player.begin(sampleRate);
		return { sound, out: FakeAudioOut.made[FakeAudioOut.made.length - 1] as FakeAudioOut };
	};
	return { timer, player, begin };
}

const watch = (promise: Promise<void>) => outcomeOf(promise.then(() => "done"));

const ones = (count: number): Uint8Array => new Uint8Array(count).fill(1);

const heard = ({ written }: FakeAudioOut): number => written.filter((byte) => byte !== 0).length;

const begin = () => open().begin();

export default suite("sounds", {
	"open the audio out for 16 bits and one channel, at the sound's rate"() {
		const { out } = open().begin(22_050);
		const { audioType, sampleRate, channels, bitsPerSample } = out.options;
		equal([audioType, sampleRate, channels, bitsPerSample, out.started], ["LPCM", 22_050, 1, 16, true]);
	},
	"are played in order, as the audio out asks for samples": given(begin, async ({ sound, out }) => {
		await sound.write(Uint8Array.of(1, 2, 3, 4));
		await sound.write(Uint8Array.of(5, 6));
		out.ask(3);
		equal(out.written, [1, 2]);
		out.ask(100);
		equal(out.written, [1, 2, 3, 4, 5, 6]);
	}),
	"make their source wait while 4 KB are to be played": given(begin, async ({ sound, out }) => {
		await sound.write(ones(4_096));
		const more = watch(sound.write(ones(1_000)));
		out.ask(998);
		await settled();
		equal(more, {});
		out.ask(2);
		await settled();
		equal(more.value, "done");
	}),
	"that pause because their source is slow go on": given(begin, async ({ sound, out }) => {
		out.ask(100);
		await sound.write(ones(4));
		out.ask(100);
		equal(out.written.length, 4);
	}),
	"end when their last sample was heard, and then close the audio out": given(open, async ({ timer, begin }) => {
		const { sound, out } = begin();
		await sound.write(ones(6_000 - 2_000));
		const end = watch(sound.end());
		for (let left = 4_000 + 24_576 - 2; left > 0; left -= Math.min(left, 1_000)) {
			out.ask(Math.min(left, 1_000));
		}
		await settled();
		equal([heard(out), end, out.closed], [4_000, {}, false]);
		out.ask(1_000);
		await settled();
		equal([end.value, out.closed, timer.size], ["done", true, 0]);
	}),
	"stop at once, and whoever writes them is told": given(open, async ({ player, begin, timer }) => {
		const { sound, out } = begin();
		const write = watch(sound.write(ones(9_000)));
		player.stop();
		await settled();
		equal([write.error, out.closed, timer.size], ["the sound was stopped", true, 0]);
		const later = watch(sound.write(ones(2)));
		const end = watch(sound.end());
		out.ask(100);
		sound.stop();
		await settled();
		equal([later.error, end.error, out.written], ["the sound was stopped", "the sound was stopped", []]);
	}),
	"give way to the next one": given(open, async ({ begin }) => {
		const first = begin();
		const write = watch(first.sound.write(ones(9_000)));
		const second = begin();
		await settled();
		equal([write.error, first.out.closed, second.out.closed], ["the sound was stopped", true, false]);
	}),
	"fail if audio output stalled for four seconds": given(open, async ({ timer, begin }) => {
		const { sound, out } = begin();
		const end = watch(sound.end());
		timer.pass(3_000);
		out.ask(0);
		await timer.passed(3_999);
		equal(end, {});
		await timer.passed(1);
		equal([end.error, out.closed], ["audio output stalled", true]);
	}),
	"that the platform cannot play are an error, and the one before has stopped": given(open, ({ player, begin }) => {
		const { out } = begin();
		throws(() => player.begin(96_000), /invalid sample rate/);
		ok(out.closed, "the sound before has stopped");
	}),
	"that the audio out does not start leave it closed, for the next one": given(open, ({ player, begin }) => {
		class Failing extends FakeAudioOut {
			override start(): void {
				throw new Error("can't enable");
			}
		}
		const failing = new SoundPlayer(Failing, new FakeTimer(), 100);
		throws(() => failing.begin(16_000), /can't enable/);
		equal([FakeAudioOut.made.at(-1)?.closed, failing.isPlaying], [true, false]);
		begin();
		equal(player.isPlaying, true);
	}),
	async "that the audio out cannot write end, and whoever writes them is told"() {
		const { begin, player, timer } = open();
		const { sound, out } = begin();
		const writing = watch(sound.write(ones(5_000)));
		out.write = () => {
			throw new Error("write failed 263");
		};
		out.ask(1_000);
		await settled();
		equal([writing.error, out.closed, player.isPlaying, timer.size], ["write failed 263", true, false, 0]);
	},
	"are as loud as the volume, in even steps of decibels": given(open, ({ player, begin }) => {
		const { out } = begin();
		const decibels = [100, 75, 50, 1].map((volume) => {
			player.volume = volume;
			return Math.round(20 * Math.log10(out.volume) * 10) / 10;
		});
		equal(decibels, [0, -12, -24, -47.5]);
		player.volume = 0;
		equal([out.volume, begin().out.volume], [0, 0]);
	}),
	async "a chime is two tones that fade, half as loud as can be"() {
		const player = new FakePlayer();
		await playChime(player);
		const [sound] = player.sounds;
		const bytes = Uint8Array.from(sound?.bytes ?? []);
		const view = new DataView(bytes.buffer);
		const samples = Array.from({ length: bytes.byteLength / 2 }, (_, at) => view.getInt16(at * 2, true));
		equal([sound?.sampleRate, samples.length, sound?.state], [16_000, 8_000, "ended"]);
		const crossings = (part: number[]): number =>
			part.filter((sample, at) => sample >= 0 && (part[at - 1] ?? 0) < 0).length;
		// The last waves are too soft to be samples of 16 bits.
		equal([crossings(samples.slice(0, 4_000)), crossings(samples.slice(4_000))], [220 - 2, 330 - 3]);
		const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
		ok(loudest > 15_000 && loudest <= 16_384, `the loudest sample is ${loudest}`);
		ok(Math.abs(samples[7_999] ?? 1_000) < 10, "it ends softly");
		ok(
			sound?.pieces.every(({ length }) => length <= 1_000),
			"small pieces",
		);
	},
	async "an alert of the backend rings the chime, unless something is being played"() {
		const { board, transport } = inSession();
		transport.channel.say({ type: "alert", status: "", message: "" });
		equal(board.player.sounds.length, 0);
		transport.channel.say({ type: "alert", status: "Warning", message: "hot" });
		await settled();
		equal([board.player.sounds.length, board.player.isPlaying], [1, false]);
		board.player.begin(8_000);
		transport.channel.say({ type: "alert", status: "Warning", message: "hotter" });
		equal(board.player.sounds.length, 2);
	},
	"a chime that cannot be played is told in the log": given(inSession, async ({ board, transport, log }) => {
		board.player.begin = () => {
			throw new Error("no memory");
		};
		transport.channel.say({ type: "alert", status: "Warning", message: "hot" });
		await settled();
		ok(log.includes("chime failed: no memory"), log.join("\n"));
	}),
	async "a chime that is stopped says so"() {
		const player = new FakePlayer();
		player.hasRoom = false;
		const chime = watch(playChime(player));
		await settled();
		player.stop();
		await settled();
		matches(chime.error ?? "", /stopped/);
	},
});
