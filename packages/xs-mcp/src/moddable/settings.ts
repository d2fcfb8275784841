import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { readConfig, readDirectConfig, SEARCH_SCHEME } from "xs-mcp-firmware/core/config";
import { readSetting, SettingError, type SettingSource } from "xs-mcp-firmware/core/read-setting";
import { SETTINGS, type SettingName, unknownSettings } from "xs-mcp-firmware/core/settings-table";
import { readTimeZone } from "xs-mcp-firmware/features/rules/time-zone";
import { parseUrl, unsupportedScheme } from "xs-mcp-firmware/protocols/transport";
import { fromProject, readManifest, shown } from "../build/manifests.js";
import { ProgramError } from "../build/program.js";
import { nearest } from "../build/suggest.js";

type Settings = Readonly<Record<string, unknown>>;

/** Schemes of backends that the firmware has clients for. */
const SCHEMES = ["ws", "wss", "mqtt", "mqtts"];

/** A device listens on every address of its own. */
const ADDRESS = "0.0.0.0";

/**
 * Adds settings of the firmware to a command: NAME=VALUE, as mcconfig takes them. They are checked before it runs.
 *
 * @param folder of the manifest
 */
export function addSettings(program: Command, folder: string, examples: string): Command {
	const collect = (word: string, settings: readonly string[] = []): readonly string[] => {
		if (!/^[A-Za-z]\w*=/.test(word)) {
			throw new InvalidArgumentError(`Expected NAME=VALUE, got ${word}.`);
		}
		return [...settings, word];
	};
	return program
		.argument("[settings...]", `settings of the firmware: ${examples}`, collect, [])
		.hook("preAction", ({ processedArgs: [words] }) => checkSettings(words, join(folder, "manifest.json")));
}

/**
 * Checks the settings of a build by the rules and with the messages of the device, which may have neither log nor screen.
 *
 * @param words settings of a command line: "ssid=home"
 * @param file the manifest, whose `config` the words override
 * @throws ProgramError that names each wrong setting
 */
function checkSettings(words: readonly string[], file: string): void {
	const given = Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2)));
	const manifest = fromProject(file);
	const { config = {} } = existsSync(file) ? readManifest(manifest) : {};
	for (const warning of findUnknown(config, manifest)) {
		console.error(`warning: ${warning}`);
	}
	const source = { built: { ...config, ...given }, settings: undefined };
	// The manifest may also have names of the project's own.
	const unknown = unknownSettings(given).filter((name) => !Object.hasOwn(config, name));
	const wrong = wrongIn(source);
	const checks = [
		() => checkBackend(source),
		() => readDirectConfig(source, ADDRESS),
		() => readTimeZone(readSetting("timezone", source)),
	];
	refuse([
		...unknown.map((name) => `${name}: unknown setting${suggestSetting(name)}`),
		...(wrong.length > 0 ? wrong : problemsOf(...checks)),
	]);
}

/**
 * Checks the settings in a manifest's `config`, each by itself.
 *
 * @param manifest path from the project's folder
 * @returns warnings about settings that may be misspelled
 * @throws ProgramError that names each wrong setting
 */
export function checkConfig(config: Settings, manifest: string): readonly string[] {
	refuse(wrongIn({ built: config, settings: undefined }).map((problem) => `${shown(manifest)}: config: ${problem}`));
	return findUnknown(config, manifest);
}

/** Returns warnings about settings in a manifest's `config` that are similar to one of the firmware. */
const findUnknown = (config: Settings, manifest: string): readonly string[] =>
	unknownSettings(config)
		.filter((name) => nearest(name, Object.keys(SETTINGS)) !== undefined)
		.map((name) => `${shown(manifest)}: config: ${name}: unknown setting${suggestSetting(name)}`);

/** Returns the messages of the settings in a source that each are wrong by themselves. */
function wrongIn(source: SettingSource): readonly string[] {
	const names = Object.keys(SETTINGS).filter((name) => Object.hasOwn(source.built, name)) as SettingName[];
	return problemsOf(...names.map((name) => () => readSetting(name, source)));
}

/** @throws ProgramError if there are problems */
function refuse(problems: readonly string[]): void {
	if (problems.length > 0) {
		throw new ProgramError(problems.join("\n"));
	}
}

/** Returns the messages of settings that cannot be read. */
function problemsOf(...readers: readonly (() => unknown)[]): string[] {
	return readers.flatMap((read) => {
		try {
			read();
			return [];
		} catch (error) {
			if (error instanceof SettingError) {
				return [error.message];
			}
			throw error;
		}
	});
}

/** Checks the backend, if there is one here: the build may have another one, or need none. */
function checkBackend(source: SettingSource): void {
	const backend = readSetting("otaUrl", source) === "" ? (readSetting("backend", source) ?? "") : "";
	const isNamed = backend !== "" && !backend.startsWith(SEARCH_SCHEME);
	readConfig(source, "", isNamed ? backend : "");
	const { scheme } = isNamed ? parseUrl(backend) : { scheme: "ws" };
	if (!SCHEMES.includes(scheme)) {
		throw unsupportedScheme(scheme);
	}
}

/** Suggests a similar setting, if there is one. */
function suggestSetting(name: string): string {
	if (name === "glyphs") {
		return ": it is a variable of the build. Set GLYPHS in the environment";
	}
	const similar = nearest(name, Object.keys(SETTINGS));
	return similar === undefined ? "; docs/moddable.md has the settings" : `: did you mean ${similar}?`;
}
