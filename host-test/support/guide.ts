import { execFileSync, spawnSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "./testing.js";

/**
 * A step of a guide, a fenced block: "ts PATH" and "json PATH" are a file, "diff PATH" is a change of one, "sh" is run,
 * "sh sdk" where Moddable's SDK is, and "text" is the output of the commands before it.
 */
export interface Step {
	readonly kind: string;
	/** A path from the project's folder, or a requirement of a command. */
	readonly about: string;
	readonly text: string;
}

export function readSteps(guide: string): Step[] {
	const text = readFileSync(join(ROOT, "docs", guide), "utf8");
	const blocks = [...text.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)];
	return blocks.map(([, kind = "", about = "", block = ""]) => ({ kind, about, text: block }));
}

export function stepsWithoutBoard(guide: string): Step[] {
	const steps = readSteps(guide);
	const end = steps.findIndex(({ about }) => about === "board");
	return end < 0 ? steps : steps.slice(0, end);
}

export function copyWorkTree(): string {
	const copy = temporaryFolder("xs-mcp-guide-");
	const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
	for (const path of String(listed).split("\0")) {
		// A file that was deleted and not committed yet is listed all the same.
		if (path !== "" && existsSync(join(ROOT, path))) {
			cpSync(join(ROOT, path), join(copy, path));
		}
	}
	// Shared by all guides: the packages, and XS, which takes 15 seconds to compile.
	for (const folder of ["node_modules", ".cache"]) {
		mkdirSync(join(copy, folder));
	}
	for (const entry of readdirSync(join(ROOT, "node_modules"), { withFileTypes: true })) {
		const original = join(ROOT, "node_modules", entry.name);
		// A link to a package of this repository leads to the copy's.
		symlinkSync(entry.isSymbolicLink() ? readlinkSync(original) : original, join(copy, "node_modules", entry.name));
	}
	// Packages whose version differs from the one of all.
	symlinkSync(join(ROOT, "packages/gateway/node_modules"), join(copy, "packages/gateway/node_modules"));
	if (existsSync(join(ROOT, ".cache/xs-host"))) {
		symlinkSync(join(ROOT, ".cache/xs-host"), join(copy, ".cache/xs-host"));
	}
	return copy;
}

export function carryOut({ kind, about, text }: Step, folder: string, output: string): string {
	switch (kind) {
		case "ts":
		case "json":
			mkdirSync(dirname(join(folder, about)), { recursive: true });
			writeFileSync(join(folder, about), text);
			return output;
		case "diff":
			change(join(folder, about), text);
			return output;
		case "sh":
			return output + run(text, folder);
		case "text":
			if (!output.includes(text.trim())) {
				throw new Error(`expected ${text.trim()} in: ${output}`);
			}
			return output;
		default:
			throw new Error(`a block of ${kind} is no step`);
	}
}

function change(path: string, diff: string): void {
	const lines = diff.trimEnd().split("\n");
	const side = (added: string): string =>
		lines
			.filter((line) => line[0] === " " || line[0] === added)
			.map((line) => `${line.slice(1)}\n`)
			.join("");
	const before = readFileSync(path, "utf8");
	if (before.split(side("-")).length !== 2) {
		throw new Error(`not once in ${path}:\n${side("-")}`);
	}
	writeFileSync(
		path,
		before.replace(side("-"), () => side("+")),
	);
}

function run(script: string, cwd: string): string {
	const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], { cwd, encoding: "utf8" });
	if (status !== 0) {
		throw new Error(`${script}ended with exit code ${status}:\n${stdout}${stderr}`);
	}
	return stdout;
}
