import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "shell-quote";
import { commandsOf } from "../../../host-test/support/guide.js";
import { PROGRAM } from "../support/command-line.js";
import { makeStateFolder } from "../support/program.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** No gateway listens there: commands for a running gateway end there, after their command line was accepted. */
const NOWHERE = "http://127.0.0.1:1";

const PAGES = execFileSync("git", ["ls-files", "docs/*.md", "*README.md"], { cwd: ROOT, encoding: "utf8" })
	.split("\n")
	.filter(Boolean);

/** The commands of a page that run the gateway's program, but `servers login`, which needs a server. */
function gatewayCommandsOf(page: string): string[] {
	return commandsOf(readFileSync(join(ROOT, page), "utf8"))
		.filter((command) => /^(?:\w+=\S+ )?(?:npx )?xs-mcp-gateway\b|^npm run (?:--silent )?gateway\b/.test(command))
		.filter((command) => !command.includes("servers login"));
}

/** The arguments after the program's name. Settings alone would start a gateway: `config` checks and prints them. */
function argumentsOf(command: string): string[] {
	const words = parse(command.replace(/^.*?(?:xs-mcp-gateway|gateway)(?: --(?= )|\b)/, "")).map((word) =>
		typeof word === "object" && "pattern" in word ? word.pattern : String(word),
	);
	if (words[0] === undefined || (words[0].startsWith("--") && words[0] !== "--help")) {
		return ["config", ...words];
	}
	// In a terminal, `token add` asks before the first token.
	return words[1] === "add" ? [...words, "--yes"] : words;
}

describe("the commands of xs-mcp-gateway in the docs are accepted", () => {
	for (const page of PAGES.filter((each) => gatewayCommandsOf(each).length > 0)) {
		it(page, () => {
			const stateFolder = makeStateFolder();
			const env = { ...process.env, XS_MCP_GATEWAY_URL: NOWHERE, XS_MCP_GATEWAY_STATE_FOLDER: stateFolder };
			for (const command of gatewayCommandsOf(page)) {
				const args = [PROGRAM, ...argumentsOf(command)];
				const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", cwd: ROOT });
				const isAccepted = status === 0 || stderr.includes(`cannot reach a gateway at ${NOWHERE}`);
				assert.ok(isAccepted, `${command}: exit code ${status}: ${stderr}`);
			}
		});
	}
});
