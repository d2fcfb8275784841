import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { commandsOf, GUIDES, stepsWithoutBoard } from "../support/guide.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The commands that the guides' test does not run as they are written, and the test that runs the same program. */
const TESTED: readonly (readonly [RegExp, string])[] = [
	[/^(?:npx )?xs-mcp-gateway\b(?! --cluster| servers login)/, "gateway/test/cli/docs-commands.full.test.ts"],
	[/^XS_MCP_GATEWAY_HOME_ASSISTANT_PASSWORD=/, "gateway/test/cli/docs-commands.full.test.ts"],
	[/^npm run (?:--silent )?gateway\b/, "gateway/test/cli/docs-commands.full.test.ts"],
	[/^xs-mcp-gateway --cluster /, "gateway/test/cluster/cluster.test.ts"],
	[/^npm start$/, "host-test/tour/main.test.ts"],
	[
		/^npm create xs-mcp |^cd garden$|^rm tools\/greet\.ts$|^npm (?:test|update|run simulator)$/,
		"host-test/e2e/project.full.test.ts",
	],
	[/^(?:tar|mkdir|mv|chmod) .*(?:STATE_FOLDER|backup\.tgz)/, "gateway/test/cli/operation.full.test.ts"],
	[/^npm start -- --manifest examples\/pump\//, "host-test/tour/own-device.test.ts"],
	[/^npm start -- --transcription-command /, "host-test/tour/talk.test.ts"],
	[/^npm run device -- .*--(?:url|prompt)/, "host-test/e2e/device-program.full.test.ts"],
	[/^npm run device -- --http /, "host-test/e2e/direct.test.ts"],
	[/^npm run device -- --setup$/, "host-test/e2e/setup.full.test.ts"],
	[/^npm run device:image /, "host-test/e2e/update.full.test.ts"],
	[/^npm run sign /, "host-test/scripts/update/signing.test.ts"],
	[/^npm run (?:pack:pi|test:pi)\b/, "integrations/pi/test/mcp-client.test.ts"],
	[/^(?:npm run pack:manager|xs-mcp-proxy)\b/, "gateway/test/package.full.test.ts"],
];

/** The commands that no test runs, with the reason. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
	[
		/^npm run flash$|^npm run flash -- .*--target|^npm run flash -- --monitor|^npm run mod -- .*--target/,
		"needs a board",
	],
	[/^npm run firmware /, "needs ESP-IDF"],
	[/^npm run simulator |^xvfb-run -a mcsim /, "needs Moddable's SDK and a display"],
	[/^export PATH=.*xs-mcp|^mcconfig -d -m -p lin$|^mcpack /, "needs Moddable's SDK"],
	[/esp-idf|\bxs-dev\b/, "installs the SDK or ESP-IDF"],
	[/qemu|^npm run test:esp32$|^sudo apt-get /, "needs ESP-IDF and QEMU, or builds QEMU"],
	[/^npm install /, "downloads packages"],
	[/^(?:claude|codex|pi) |^npx @modelcontextprotocol\/inspector /, "needs another host's program"],
	[/^(?:nats-server|python3 -m http\.server) /, "is another program"],
	[/^docker |^useradd |^systemctl |\/etc\/systemd/, "needs Docker or root"],
	[/^xs-mcp-gateway servers login /, "needs a server that asks for a sign-in"],
	[/^(?:mkdir|cp|mv) /, "copies an example"],
];

const pages = execFileSync("git", ["ls-files", "docs/*.md", "*README.md"], { cwd: ROOT, encoding: "utf8" })
	.split("\n")
	.filter((path) => path !== "" && existsSync(`${ROOT}${path}`));

const documented = pages.flatMap((page) =>
	commandsOf(readFileSync(`${ROOT}${page}`, "utf8")).map((command) => ({ page, command })),
);

const run = new Set(
	GUIDES.flatMap((guide) => stepsWithoutBoard(guide))
		.filter(({ kind }) => kind === "sh")
		.flatMap(({ text }) => commandsOf(`\`\`\`sh\n${text}\`\`\``)),
);

it("every command in the docs is run by a test, or listed with the reason why not", () => {
	const listed = [...TESTED, ...NOT_RUN];
	const unknown = documented.filter(
		({ command }) => !run.has(command) && !listed.some(([pattern]) => pattern.test(command)),
	);
	assert.deepEqual(unknown, []);
	const unused = listed.filter(([pattern]) => !documented.some(({ command }) => pattern.test(command)));
	assert.deepEqual(unused, [], "no page has such a command");
});

it("the tests that run the programs of the docs exist", () => {
	assert.deepEqual(
		TESTED.map(([, path]) => path).filter((path) => !existsSync(`${ROOT}${path}`)),
		[],
	);
});

describe("the npm scripts in the docs", () => {
	const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
	const used = documented.flatMap(({ command }) =>
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
