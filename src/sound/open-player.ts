import Resource from "Resource";
import AudioOut from "embedded:io/audio/out";
import Timer from "timer";
import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Player, SoundFiles } from "../hardware/sound.js";
import { inBuild } from "../platform/in-build.js";
import type { AudioOutClass } from "./played-sound.js";
import { SoundPlayer } from "./sound-player.js";

/** Whether a resource is a sound: fonts and certificates are resources, too. */
const isSound = (name: string): boolean => /\.(wav|mp3|pcm)$/.test(name);

/** The sound files among the resources, a manifest's `data`. The SDK's ResourceIterator makes `Resource` iterable. */
const soundFiles: SoundFiles = deepFreeze({
	get names() {
		return [...(Resource as unknown as Iterable<string>)].filter(isSound);
	},
	open: (name) => (isSound(name) && Resource.exists(name) ? new Resource(name) : undefined),
});

/**
 * A player on the SDK's audio out, for a target that supports it.
 *
 * @param volume percent, the initial volume; 100 for a board whose amplifier sets the volume
 */
export const openPlayer = (volume: number): SoundPlayer =>
	Object.assign(new SoundPlayer(AudioOut as unknown as AudioOutClass, Timer, volume, soundFiles), {
		openReader: inBuild<Player["openReader"]>("src/sound/open-mp3"),
	});
