import Resource from "Resource";
import type { SoundFiles } from "../hardware/sound.js";

/** Fonts and certificates are resources, too. */
const isSound = (name: string): boolean => name.endsWith(".wav") || name.endsWith(".pcm");

/** The sound files among the firmware's resources: a manifest's `data`. The SDK's ResourceIterator makes `Resource` iterable. */
export const soundFiles: SoundFiles = {
	get names() {
		return [...(Resource as unknown as Iterable<string>)].filter(isSound);
	},
	open: (name) => (isSound(name) && Resource.exists(name) ? new Resource(name) : undefined),
};
