import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { checkSetting } from "../../src/settings/read-setting.js";
import { type Rule, SETTINGS, type SettingName } from "../../src/settings/settings-table.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/moddable.md", import.meta.url));
const TABLE = fileURLToPath(new URL("../../src/settings/settings-table.ts", import.meta.url));
const HEAD = ["| setting | default | value | |", "| --- | --- | --- | --- |"];

/** Text that only a setting without limits accepts. */
const UNACCEPTABLE = "\n#".repeat(50_000);

/** Expected values of a setting, as its error names them. */
function describeText(name: string): string {
	try {
		checkSetting(name as SettingName, UNACCEPTABLE);
		return "text";
	} catch (error) {
		return /expected (.*?)(?:, got ".*)?$/.exec((error as Error).message)?.[1] ?? "";
	}
}

function describeValue(name: string, rule: Rule): string {
	switch (rule.kind) {
		case "text":
		case "secret":
			return describeText(name);
		case "integer":
			return `${rule.orZero ? "0, " : ""}${rule.min}–${rule.max}${rule.unit === undefined ? "" : ` ${rule.unit}`}`;
		case "choice":
			return rule.choices.map((choice) => `\`${choice}\``).join(", ");
		case "choices":
			return `${rule.choices.map((choice) => `\`${choice}\``).join(", ")}, with commas`;
		case "flag":
			return "`true`, `false`";
		case "hex":
			return `at most ${rule.maxBytes} bytes as hexadecimal digits`;
		case "p256-keys":
			return "each `04` and 128 hexadecimal digits, with commas";
		case "networks":
		case "static-address":
			return describeText(name);
	}
}

/** Purpose of each setting by its comment, and its default if that is no constant. */
const comments = new Map(
	[...readFileSync(TABLE, "utf8").matchAll(/^\t\/\*\*([^/]*(?:\/(?<!\*\/)[^/]*)*)\*\/\n\t(\w+): /gm)].map(
		([, comment = "", name]) => {
			const [text = "", otherwise] = comment.replace(/^[\s*]+|[\s*]+$/g, "").split(/[\s*]+@default /);
			return [name, { text, otherwise }];
		},
	),
);

function describeDefault(name: string, rule: Rule): string {
	const value = "default" in rule ? String(rule.default) : "";
	return comments.get(name)?.otherwise ?? (value === "" ? "–" : `\`${value}\``);
}

it("docs/moddable.md has the firmware's table of settings", () => {
	const rows = Object.entries<Rule>(SETTINGS).map(
		([name, rule]) =>
			`| \`${name}\` | ${describeDefault(name, rule)} | ${describeValue(name, rule)} | ${comments.get(name)?.text} |`,
	);
	const expected = [...HEAD, ...rows].join("\n");
	const [, found] = /^(\| setting \| default \|(?:.|\n)*?)\n\n/m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
	assert.equal(found, expected, `docs/moddable.md: replace the table with\n${expected}`);
});

it("docs/moddable.md names the settings that only the build sets", () => {
	const names = Object.entries<Rule>(SETTINGS).flatMap(([name, { builtOnly }]) => (builtOnly ? [`\`${name}\``] : []));
	const expected = new RegExp(
		`Only ${names.slice(0, -1).join(", ")} and ${names.at(-1)} are taken from the build alone`,
	);
	assert.match(readFileSync(DOCUMENT, "utf8"), expected);
});
