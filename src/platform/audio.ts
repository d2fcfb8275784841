import AudioOut from "embedded:io/audio/out";
import Timer from "timer";
import type { AudioOutRecord } from "../sound/played-sound.js";
import { SoundPlayer } from "../sound/sound-player.js";
import { soundFiles } from "./sound-files.js";

/**
 * A player on the SDK's audio out, for a target that supports it.
 *
 * @param volume percent, the initial volume; 100 for a board whose amplifier sets the volume
 */
export function openPlayer(volume: number): SoundPlayer {
	const audioOut = { io: AudioOut as unknown as AudioOutRecord["io"] };
	return new SoundPlayer({ audioOut, timer: Timer, volume, files: soundFiles });
}
