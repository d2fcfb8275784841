import { joinBytes } from "../core/text/byte-reader.js";
import { MAX_RATE, MIN_RATE, type Player, type Sound, type SoundReader } from "../hardware/sound.js";
import { expectOk } from "../protocols/http-status.js";
import { WavReader } from "../sound/wav-reader.js";
import { ACTS, defineTool, integer, optional, string } from "./define-tool.js";

/** Bytes of a sample. */
const SAMPLE = 2;

/** The URL prefix of the firmware's files. */
const RESOURCE = "resource:";

/** Bytes of such a file read at a time. */
const PIECE = 2_048;

const MAX_NAMES = 20;

/** Bytes from which the format of a file is known. */
const HEAD = 4;

/**
 * Opens a reader for a file with these first bytes, whatever its name is. A stream of MP3 may begin within a frame.
 *
 * @param rawRate Hertz, for samples without a head
 */
const openReader = ({ openMp3 }: Player, head: Uint8Array, rawRate: number | undefined): SoundReader => {
	const start = String.fromCharCode(...head.subarray(0, HEAD));
	if (rawRate !== undefined || start === "RIFF") {
		return new WavReader(rawRate);
	}
	if (openMp3 === undefined && /^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/.test(start)) {
		throw new Error("MP3 is not in this firmware: build it with src/sound/manifest_mp3.json, or play a WAV file");
	}
	return openMp3?.() ?? new WavReader();
};

/** @throws Error with the names of existing files */
const readFile = async (
	player: Player,
	name: string,
	onPiece: (piece: ArrayBuffer) => Promise<void>,
): Promise<void> => {
	const file = player.files?.open(name);
	if (file === undefined) {
		const names = player.files?.names.slice(0, MAX_NAMES).join(", ") || "none";
		throw new Error(`${RESOURCE}${name} not found; sound files of this firmware: ${names}`);
	}
	for (let at = 0; at < file.byteLength; at += PIECE) {
		await onPiece(file.slice(at, Math.min(at + PIECE, file.byteLength)));
	}
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
		const playing: { reader?: SoundReader; sound?: Sound; bytes: number; seconds: number } = { bytes: 0, seconds: 0 };
		let head = new Uint8Array(0);
		call.onCancel = () => playing.sound?.stop();
		const play = async (piece?: ArrayBuffer): Promise<void> => {
			if (call.cancelled) {
				throw new Error("the call was cancelled");
			}
			let bytes = piece && new Uint8Array(piece);
			if (playing.reader === undefined) {
				bytes = joinBytes(head, bytes ?? head);
				if (bytes.byteLength < HEAD) {
					head = bytes;
					return;
				}
				playing.reader = openReader(player, bytes, sampleRate);
			}
			for (const samples of playing.reader.read(bytes)) {
				const rate = playing.reader.sampleRate as number;
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
				await readFile(player, url.slice(RESOURCE.length), play);
			} else {
				expectOk(await http.request({ method: "GET", url, onPiece: play }), url);
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
			playing.reader?.close?.();
		}
		return true;
	},
});
