import assert from "node:assert/strict";
import { it } from "node:test";
import { Command } from "commander";
import { withSettings } from "../src/cli/configuration-options.js";
import { SETTING_NAMES, settingOf } from "../src/config/settings.js";
import { flagOf } from "../src/plugin.js";

const help = withSettings(new Command("serve")).configureHelp({ helpWidth: 160 }).helpInformation();
const lines = help.split("\n");

/** The line of a setting's flag, or of the flag that turns it off. */
function lineOf(flag: string): string | undefined {
	return lines.find((line) => [flag, flag.replace("--", "--no-")].includes(line.trim().split(" ")[0] as string));
}

it("serve --help has each setting in a line of its own, except secrets", () => {
	const names = SETTING_NAMES.filter((name) => !settingOf(name).secret);
	const missing = names.filter((name) => lineOf(flagOf(name)) === undefined);
	assert.deepEqual(missing, []);
	const wrapped = lines.filter((line) => /^ {10}/.test(line));
	assert.deepEqual(wrapped, []);
});
