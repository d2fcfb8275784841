import { MAX_RATE, MIN_RATE, type Player, type Sound, type SoundFile, type SoundReader } from "../hardware/sound.js";
import { WavReader } from "../sound/wav-reader.js";
import { ACTS, defineTool, integer, optional, string } from "./define-tool.js";

/** Bytes of a sample. */
const SAMPLE = 2;

/** The URL prefix of the firmware's files. */
const RESOURCE = "resource:";

/** Bytes of such a file read at a time. */
const PIECE = 2_048;

const MAX_NAMES = 20;

/** @throws Error with the names of existing files */
const openFile = ({ files }: Player, name: string): SoundFile => {
	const file = files?.open(name);
	if (file === undefined) {
		const names = files?.names.slice(0, MAX_NAMES).join(", ") || "none";
		throw new Error(`${RESOURCE}${name} not found; sound files of this firmware: ${names}`);
	}
	return file;
};

export default defineTool({
	name: "self.audio_speaker.play",
	title: "Play sound",
	description:
		"Play a sound on the speaker: a WAV file (PCM; MP3 if the firmware has a decoder) from a URL, or one that is built in. " +
		"Returns when the sound has ended. To end it sooner, call self.audio_speaker.stop.",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["player", "http"],
	input: {
		url: string({
			minLength: 1,
			maxLength: 1_000,
			description: "URL of the file: http, https, or resource:NAME for one that is built into the firmware",
		}),
		sampleRate: optional(
			integer({
				minimum: MIN_RATE,
				maximum: MAX_RATE,
				description: "Only for raw PCM instead of WAV (16 bits, low byte first, one channel): samples per second",
			}),
		),
	},
	run: async ({ url, sampleRate }, { player, http }, call) => {
		const reader: SoundReader =
			(sampleRate === undefined ? player.openReader?.() : undefined) ?? new WavReader(sampleRate);
		const playing: { sound?: Sound; bytes: number; seconds: number } = { bytes: 0, seconds: 0 };
		call.onCancel = () => playing.sound?.stop();
		const play = async (piece?: ArrayBuffer): Promise<void> => {
			if (call.cancelled) {
				throw new Error("the call was cancelled");
			}
			for (const samples of reader.read(piece && new Uint8Array(piece))) {
				const rate = reader.sampleRate as number;
				playing.sound ??= player.begin(rate);
				await playing.sound.write(samples);
				playing.bytes += samples.byteLength;
				const seconds = Math.floor(playing.bytes / SAMPLE / rate);
				if (seconds > playing.seconds) {
					playing.seconds = seconds;
					call.progress(seconds, undefined, `${seconds} s played`);
				}
			}
		};
		try {
			if (url.startsWith(RESOURCE)) {
				const file = openFile(player, url.slice(RESOURCE.length));
				for (let at = 0; at < file.byteLength; at += PIECE) {
					await play(file.slice(at, Math.min(at + PIECE, file.byteLength)));
				}
			} else {
				await http.request({ method: "GET", url, onPiece: play, mustSucceed: true });
			}
			await play();
			if (playing.sound === undefined) {
				throw new Error(`${url}: truncated before its samples`);
			}
			await playing.sound.end();
		} catch (error) {
			playing.sound?.stop();
			throw error;
		} finally {
			reader.close?.();
		}
		return true;
	},
});
