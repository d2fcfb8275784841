import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration.js";
import type { Configuration } from "../config/settings.js";
import type { ModelService } from "../net/model-service.js";
import { Announcements } from "../speech/announcements.js";
import type { DeviceTurns } from "../speech/device-turns.js";
import { splitCommand } from "../speech/run-program.js";
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

/**
 * Reads the provider of speech or transcription: a program, or a service. Undefined if none is configured.
 *
 * @throws ConfigurationError if the settings are not complete
 */
export function readProvider(
	configuration: Configuration,
	what: "speech" | "transcription",
): { readonly command: string } | ModelService | undefined {
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
		expectProgram(`${what}Command`, command);
		return { command };
	}
	return url === undefined || model === undefined ? undefined : { url, model, key };
}

/** @throws ConfigurationError if there is no such program. Not checked on Windows, which finds programs by their endings */
function expectProgram(setting: string, command: string): void {
	const [program = ""] = splitCommand(command);
	const folders = (process.env.PATH ?? "").split(delimiter);
	const paths = program.includes("/") ? [program] : folders.map((folder) => join(folder, program));
	if (process.platform !== "win32" && !paths.some(isExecutable)) {
		const where = program.includes("/") ? "" : " in a folder of PATH";
		throw new ConfigurationError([`${setting}: no program ${program}${where}`]);
	}
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
