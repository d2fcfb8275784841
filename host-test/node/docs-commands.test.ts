import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { commandsOf } from "../support/guide.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const pages = execFileSync("git", ["ls-files", "docs/*.md", "*README.md"], { cwd: ROOT, encoding: "utf8" })
	.split("\n")
	.filter((path) => path !== "" && existsSync(`${ROOT}${path}`));

const commands = pages.flatMap((page) => commandsOf(readFileSync(`${ROOT}${page}`, "utf8")));

describe("the npm scripts in the docs", () => {
	const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
	const used = commands.flatMap((command) =>
		[...command.matchAll(/\bnpm run (?:--silent )?([\w:]+)(?: -- (.*))?/g)].map(([, name = "", rest = ""]) => ({
			name,
			options: [...rest.matchAll(/(?<=^| )--[a-z][a-z-]*/g)].map(([option]) => option),
		})),
	);

	it("exist", () => {
		assert.deepEqual(
			used.map(({ name }) => name).filter((name) => scripts[name] === undefined),
			[],
		);
	});

	it("have the options", () => {
		for (const { name, options } of used.filter((each) => each.name !== "gateway")) {
			// The sources of the program: the files beside its entry, or of its package.
			const [, folder = ""] =
				/ (scripts\/\w+|[\w-]+)\/\S+\.m?[jt]s/.exec(scripts[name].replace("scripts/run.mjs", "")) ?? [];
			const sources = ["*.ts", "*.mjs"].map((ending) => `${folder}/${ending}`);
			for (const option of options) {
				const { status } = spawnSync("git", ["grep", "-qF", "-e", `"${option}`, "--", ...sources], { cwd: ROOT });
				assert.equal(status, 0, `unknown option: npm run ${name} -- ${option}`);
			}
		}
	});
});
