import type { ServerIdentity } from "xs-mcp-manager/core";
import type { Configuration } from "../config/settings.js";
import { Announcements } from "../speech/announcements.js";
import type { DeviceTurns } from "../speech/device-turns.js";
import { Speech } from "../speech/speech.js";
import { programVoice, serviceVoice, type Voice } from "../speech/voice.js";
import { readProvider } from "./speech-provider.js";

export interface OpenedSpeech {
	readonly speech: Speech;
	readonly announcements: Announcements;
}

/**
 * Opens the voice that the settings name; undefined if they name none.
 *
 * @param urlFor see {@link Announcements}
 * @throws ConfigurationError if the settings are not complete
 */
export function openSpeech(
	configuration: Configuration,
	turns: DeviceTurns,
	urlFor: (identity: ServerIdentity) => string | undefined,
): OpenedSpeech | undefined {
	const voice = voiceOf(configuration);
	if (voice === undefined) {
		return undefined;
	}
	const speech = new Speech(voice);
	return { speech, announcements: new Announcements({ speech, turns, quietHours: configuration.quietHours, urlFor }) };
}

function voiceOf(configuration: Configuration): Voice | undefined {
	const provider = readProvider(configuration, "speech");
	const voices = configuration.speechVoices;
	if (provider === undefined) {
		return undefined;
	}
	return "command" in provider ? programVoice(provider.command, voices) : serviceVoice(provider, voices);
}
