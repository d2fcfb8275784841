import { type Command, Option } from "commander";
import { readConfiguration } from "../config/configuration.js";
import {
	type Configuration,
	flagOf,
	SETTING_GROUPS,
	SETTING_NAMES,
	type SettingName,
	settingOf,
} from "../config/settings.js";
import { collect } from "./address-options.js";

/** Adds a flag for each of these settings, in the settings' groups, and `--config`. */
export function withSettings(command: Command, names: readonly SettingName[] = SETTING_NAMES): Command {
	command.option("--config <file>", "Settings file (default: xs-mcp-gateway.json, if it exists)");
	let group = "";
	for (const name of names) {
		group = SETTING_GROUPS.get(name) ?? group;
		for (const option of optionsFor(name)) {
			command.addOption(group === "" ? option : option.helpGroup(`${group}:`));
		}
	}
	return command;
}

/** The settings from flags, environment and file. `flags` are those that {@link withSettings} added. */
export function configurationFrom({ config, ...flags }: { readonly config?: string }): Configuration {
	return readConfiguration({ flags, environment: process.env, file: config });
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
	const hasDefault = value !== undefined && typeof value !== "object";
	const details = [
		...(kind.range ? [kind.range] : []),
		...(hasDefault ? [`default: ${value}`] : []),
		...(repeatable ? ["repeatable"] : []),
	].join("; ");
	const option = new Option(`${flagOf(name)} <${placeholder}>`, details ? `${description} (${details})` : description);
	return [repeatable ? option.argParser(collect) : option];
}
