import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Command } from "commander";
import { withSettings } from "../../src/cli/configuration-options.js";
import { flagOf } from "../../src/config/setting-kinds.js";
import { SETTING_NAMES, settingOf } from "../../src/config/settings.js";

const help = withSettings(new Command("serve")).configureHelp({ helpWidth: 160 }).helpInformation();
const lines = help.split("\n");

/** The line of a setting's flag, or of the flag that turns it off. */
function lineOf(flag: string): string | undefined {
	return lines.find((line) => [flag, flag.replace("--", "--no-")].includes(line.trim().split(" ")[0] as string));
}

describe("serve --help", () => {
	it("has each setting in a line of its own, except secrets", () => {
		const names = SETTING_NAMES.filter((name) => !settingOf(name).secret);
		const missing = names.filter((name) => lineOf(flagOf(name)) === undefined);
		assert.deepEqual(missing, []);
		const wrapped = lines.filter((line) => /^ {10}/.test(line));
		assert.deepEqual(wrapped, []);
	});

	it("names the allowed values and the default", () => {
		assert.match(lineOf("--http-port") ?? "", /\(0 to 65535; default: 8766\)$/);
		for (const name of SETTING_NAMES) {
			const { expected, description } = settingOf(name);
			const [, words] = /^one of (.*)$/.exec(expected) ?? [];
			for (const word of words?.split(", ") ?? []) {
				assert.ok(new RegExp(`\\b${word}\\b`).test(description), `${name}: ${word} is not in its description`);
			}
		}
	});
});
