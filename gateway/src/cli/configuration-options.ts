import { type Command, Option } from "commander";
import { readConfiguration } from "../config/configuration.js";
import { type Configuration, flagOf, SETTING_NAMES, type SettingName, settingOf } from "../config/settings.js";

/** Adds a flag for each of these settings, and `--config`. */
export function withSettings(command: Command, names: readonly SettingName[] = SETTING_NAMES): Command {
	command.option("--config <file>", "Settings file (default: xs-mcp-gateway.json, if it exists)");
	for (const name of names) {
		for (const option of optionsFor(name)) {
			command.addOption(option);
		}
	}
	return command;
}

/** The settings from flags, environment and file. `flags` are those that {@link withSettings} added. */
export function configurationFrom({ config, ...flags }: { readonly config?: string }): Configuration {
	return readConfiguration({ flags, environment: process.env, file: config });
}

/** Collects the values of a repeated flag. */
export function collect(text: string, before: readonly string[] = []): string[] {
	return [...before, text];
}

function optionsFor(name: SettingName): Option[] {
	const { kind, description, secret, default: value } = settingOf(name);
	const { placeholder, repeatable } = kind;
	if (secret) {
		return [];
	}
	if (placeholder === undefined) {
		const [yes, no] = [new Option(flagOf(name), description), new Option(flagOf(name).replace("--", "--no-"))];
		no.description = `Do not ${description.charAt(0).toLowerCase()}${description.slice(1)}`;
		// The flag that repeats the default still works, but help does not list it.
		return [yes.hideHelp(value === true), no.hideHelp(value === false)];
	}
	const shown = value === undefined || typeof value === "object" ? "" : ` (default: ${value})`;
	const option = new Option(`${flagOf(name)} <${placeholder}>`, description + shown);
	return [repeatable ? option.argParser(collect) : option];
}
