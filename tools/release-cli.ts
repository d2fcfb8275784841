// npm run release: makes everything that a release consists of, in a folder. It publishes nothing.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeProgram, ProgramError, runProgram } from "xs-mcp/build/program";
import { writeChecksums, zipFolder } from "xs-mcp/release";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";

/** Checks that must pass first. */
const CHECKS = [["run", "lint"], ["run", "typecheck"], ["test"]];

const EPILOGUE = `
Nothing is published. Images need Moddable's SDK and ESP-IDF.`;

const program = makeProgram("npm run release --", "Makes the packages, images and checksums of a release.")
	.option("--to <folder>", "where they are made", ".cache/release")
	.option(
		"--target <target>",
		"also the image of this board, such as esp32/m5stack_cores3, or of all; may be repeated",
		(target: string, before: readonly string[]) => [...before, target],
		[],
	)
	.option("--no-checks", "without lint, type check and tests: CI has run them")
	.addHelpText("after", EPILOGUE);

await runProgram(program.action(makeRelease));

function makeRelease({ to, target, checks }: { to: string; target: readonly string[]; checks: boolean }): void {
	const folder = resolve(ROOT, to);
	if (target.length > 0) {
		run("npm", ["run", "xs-mcp", "doctor", "--", "--for", "build"]);
	}
	for (const args of checks ? CHECKS : []) {
		run("npm", args);
	}
	const work = join(folder, "work");
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(work, { recursive: true });
	run("npm", ["run", "pack", "--", "--to", folder]);
	if (target.length > 0) {
		const targets = target.flatMap((each) => ["--target", each]);
		run("npm", ["run", "xs-mcp", "firmware", "--", "--output", join(work, "images"), ...targets]);
		writeFileSync(join(folder, `xs-mcp-firmware-${FIRMWARE.version}.zip`), zipFolder(join(work, "images")));
	}
	rmSync(work, { recursive: true });
	console.log(`${FIRMWARE.version} is in ${folder}: ${writeChecksums(folder).join(", ")}, SHA256SUMS`);
}

/** @throws ProgramError if the command fails */
function run(command: string, args: readonly string[]): void {
	const { status } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
	if (status !== 0) {
		throw new ProgramError(`${[command, ...args].join(" ")} failed`);
	}
}
