import type { Sound } from "../hardware/sound.js";
import { string } from "../mcp_server/schema.js";
import { expectOk } from "../net/http-status.js";
import { WavReader } from "../sound/wav-reader.js";
import { defineTool } from "./support/define-tool.js";
import { ACTS } from "./support/hints.js";

/** Bytes of a sample. */
const SAMPLE = 2;

export default defineTool({
	name: "self.audio_speaker.play",
	title: "Play sound",
	description:
		"Play a sound on the speaker: a WAV file (PCM) from a URL. Returns when the sound has ended. To end it sooner, call self.audio_speaker.stop.",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["player", "http"],
	input: { url: string({ minLength: 1, maxLength: 1_000, description: "URL of the WAV file, http or https" }) },
	run: async ({ url }, { player, http }, call) => {
		const wav = new WavReader();
		const playing: { sound?: Sound; bytes: number; seconds: number } = { bytes: 0, seconds: 0 };
		call.onCancel = () => playing.sound?.stop();
		const play = async (piece: ArrayBuffer): Promise<void> => {
			const samples = wav.read(new Uint8Array(piece));
			if (call.cancelled) {
				throw new Error("the call was cancelled");
			}
			if (wav.sampleRate === undefined) {
				return;
			}
			playing.sound ??= player.begin(wav.sampleRate);
			await playing.sound.write(samples);
			playing.bytes += samples.byteLength;
			const seconds = Math.floor(playing.bytes / SAMPLE / wav.sampleRate);
			if (seconds > playing.seconds) {
				playing.seconds = seconds;
				call.progress(seconds, undefined, `${seconds} s played`);
			}
		};
		try {
			expectOk(await http.request({ method: "GET", url, onPiece: play }), url);
			if (playing.sound === undefined) {
				throw new Error(`${url}: not a WAV file: truncated before its samples`);
			}
			await playing.sound.end();
		} catch (error) {
			playing.sound?.stop();
			throw error;
		}
		return true;
	},
});
