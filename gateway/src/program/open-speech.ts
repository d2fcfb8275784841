import type { ServerIdentity } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration.js";
import type { Configuration } from "../config/settings.js";
import { Announcements } from "../speech/announcements.js";
import type { DeviceTurns } from "../speech/device-turns.js";
import { QuietHours } from "../speech/quiet-hours.js";
import { Speech } from "../speech/speech.js";
import { programVoice, serviceVoice, type Voice } from "../speech/voice.js";

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
	const quietHours = new QuietHours(configuration.quietHours);
	return { speech, announcements: new Announcements({ speech, turns, quietHours, urlFor }) };
}

function voiceOf({
	speechCommand: command,
	speechUrl: url,
	speechModel: model,
	speechKey: key,
	speechVoices: voices,
}: Configuration): Voice | undefined {
	if (command !== undefined && url !== undefined) {
		throw new ConfigurationError(["speechCommand, speechUrl: only one of them can be set"]);
	}
	if (command !== undefined) {
		return programVoice(command, voices);
	}
	if (url === undefined) {
		return undefined;
	}
	if (model === undefined) {
		throw new ConfigurationError(["speechModel: required with speechUrl"]);
	}
	return serviceVoice({ url, model, key, voices });
}
