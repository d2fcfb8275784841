import { type Command, Option } from "commander";
import { type ConfigurationSources, readConfiguration, settingsLike } from "../config/configuration.js";
import { type Configuration, SETTING_NAMES, type SettingName, settingOf } from "../config/settings.js";
import { actAsOwner } from "../config/state-files.js";
import { flagOf } from "../plugin.js";
import { collect } from "./gateway-client.js";

/** Adds a flag for each of these settings, in the settings' groups, and `--config`. An unknown flag names similar ones. */
export function withSettings(command: Command, names: readonly SettingName[] = SETTING_NAMES): Command {
	command.option("--config <file>", "Settings file (default: xs-mcp-gateway.json, if it exists)");
	command.configureOutput({ outputError: (text, write) => write(text + suggestion(text, names)) });
	for (const name of names) {
		for (const option of optionsFor(name)) {
			command.addOption(option.helpGroup(`${settingOf(name).group}:`));
		}
	}
	return command;
}

/** Returns the sources of settings: flags, environment and file. `flags` were added by {@link withSettings}. */
export function sourcesFrom({ config, ...flags }: { readonly config?: string }): ConfigurationSources {
	return { flags, environment: process.env, file: config };
}

/** Returns the settings for commands, which do not load the operator's own plugins. */
export function configurationFrom(options: { readonly config?: string }): Configuration {
	return readConfiguration(sourcesFrom(options));
}

/** Returns the settings for a command that writes the state folder: run by root, it acts as the folder's owner from now on. */
export function configurationToWrite(options: { readonly config?: string }): Configuration {
	const configuration = configurationFrom(options);
	actAsOwner(configuration.stateFolder);
	return configuration;
}

/** Suggestions that commander does not make, because it compares whole flags: flags that begin or end with the unknown one. */
function suggestion(error: string, names: readonly SettingName[]): string {
	const [, unknown] = /^error: unknown option '--([a-z-]+)'\n$/.exec(error) ?? [];
	const alike = unknown === undefined ? [] : settingsLike(unknown);
	const flags = alike.filter((each) => names.includes(each)).map(flagOf);
	const list = new Intl.ListFormat("en", { type: "disjunction" }).format(flags);
	return list === "" ? "" : `(Did you mean ${list}?)\n`;
}

function optionsFor(name: SettingName): Option[] {
	const { description, secret, default: value, placeholder, repeatable, range } = settingOf(name);
	if (secret) {
		return [];
	}
	if (placeholder === undefined) {
		const [yes, no] = [new Option(flagOf(name), description), new Option(flagOf(name).replace("--", "--no-"))];
		no.description = `Do not ${description.charAt(0).toLowerCase()}${description.slice(1)}`;
		// The flag that repeats the default still works, but help does not list it.
		return [yes.hideHelp(value === true), no.hideHelp(value === false)];
	}
	const hasDefault = value !== undefined && typeof value !== "object";
	const details = [range, hasDefault && `default: ${value}`, repeatable && "repeatable"].filter(Boolean).join("; ");
	const option = new Option(`${flagOf(name)} <${placeholder}>`, details ? `${description} (${details})` : description);
	return [repeatable ? option.argParser(collect) : option];
}
