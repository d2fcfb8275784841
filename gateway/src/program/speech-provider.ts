import { ConfigurationError } from "../config/configuration.js";
import type { Configuration } from "../config/settings.js";
import type { SpeechService } from "../speech/speech-service.js";

/**
 * Reads the provider of speech or transcription: a program, or a service. Undefined if none is configured.
 *
 * @throws ConfigurationError if the settings are not complete
 */
export function readProvider(
	configuration: Configuration,
	what: "speech" | "transcription",
): { readonly command: string } | SpeechService | undefined {
	const {
		[`${what}Command` as const]: command,
		[`${what}Url` as const]: url,
		[`${what}Model` as const]: model,
		[`${what}Key` as const]: key,
	} = configuration;
	if (command !== undefined && url !== undefined) {
		throw new ConfigurationError([`${what}Command, ${what}Url: only one of them can be set`]);
	}
	if (url !== undefined && model === undefined) {
		throw new ConfigurationError([`${what}Model: required with ${what}Url`]);
	}
	if (command !== undefined) {
		return { command };
	}
	return url === undefined || model === undefined ? undefined : { url, model, key };
}
