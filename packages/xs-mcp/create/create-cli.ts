#!/usr/bin/env node
// create-xs-mcp, which npm create xs-mcp runs: creates a project for a custom device.
import { spawnSync } from "node:child_process";
import { basename, relative, resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { ProgramError, runProgram } from "xs-mcp/build/program";
import { askFor, BOARDS, checkPlace, LANGUAGES, makeProject, readOffered } from "./make-project.js";

interface Flags {
	readonly name?: string;
	readonly board?: string;
	readonly language?: string;
	readonly packages?: string;
	readonly install: boolean;
}

/** Options with which npm prefers its cache, and without a network does not retry for minutes. */
const AT_ONCE = [
	"--prefer-offline",
	"--fetch-retries=1",
	"--fetch-retry-mintimeout=1000",
	"--fetch-retry-maxtimeout=1000",
];

const program = new Command("npm create xs-mcp")
	.description("Makes a project for a device of your own, with the firmware xs-mcp.")
	.addArgument(new Argument("[folder]", "a new or empty folder"))
	.option("--name <name>", "the device's name (default: the folder's)")
	.addOption(new Option("--board <board>", "the board").choices(BOARDS).argParser(readOffered))
	.addOption(new Option("--language <language>", "the language that the device speaks").choices(LANGUAGES))
	.option("--packages <folder>", "take the firmware from tarballs in this folder, instead of the registry")
	.option("--no-install", "do not install the packages")
	.exitOverride()
	.action(create);

await runProgram(program);

async function create(given: string | undefined, flags: Flags): Promise<void> {
	const nameOf = (folder: string): string => flags.name ?? basename(resolve(folder));
	const readFolder = (folder: string): string => {
		checkPlace(resolve(folder), nameOf(folder));
		return folder;
	};
	const asked = { folder: given && readFolder(given), board: flags.board, language: flags.language };
	const answers = await askFor(asked, readFolder);
	const folder = resolve(answers.folder);
	const name = nameOf(folder);
	makeProject({ ...answers, folder, name, packages: flags.packages && resolve(flags.packages) });
	const place = relative(process.cwd(), folder);
	console.log(`${name} is in ${place || folder}.`);
	if (flags.install) {
		install(folder, place);
	}
	const enter = place === "" ? "" : `cd ${/\s/.test(place) ? JSON.stringify(place) : place} && `;
	console.log(`Next: ${enter}${flags.install ? "" : "npm install && "}npm start`);
}

/** @throws ProgramError with what to do if npm fails, as without a network */
function install(folder: string, place: string): void {
	console.log("Installing the firmware …");
	const { status, stderr } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...AT_ONCE], {
		...{ cwd: folder, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] },
		shell: process.platform === "win32",
	});
	if (status === 0) {
		return;
	}
	console.error(stderr.trim());
	const isPublished = !/\b(E404|ETARGET)\b/.test(stderr);
	const next = isPublished
		? `The project is complete: run npm install in ${place || "this folder"} where there is a network`
		: `They are not in npm's registry. In a clone of xs-mcp, npm run create -- FOLDER makes a project with that clone's packages`;
	throw new ProgramError(`the packages are not installed: npm's error is above. ${next}`);
}
