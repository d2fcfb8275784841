import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import { freePinOf, TARGETS } from "xs-mcp/build/check-board";
import { attempt, ProgramError, readJson } from "xs-mcp/build/program";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { SETTINGS } from "xs-mcp-firmware/core/settings-table";
import { profileNameOf, readBoard } from "xs-mcp-virtual-device/boards";

/** The boards of the question, the default first. */
export const BOARDS: readonly string[] = TARGETS.map(profileNameOf);

/** Reads the name of a board that the question offers. @throws InvalidArgumentError that suggests a similar one */
export const readOffered = (text: string): string => readBoard(text, BOARDS);

/** The languages of the firmware's own words, the default first. */
export const LANGUAGES: readonly string[] = SETTINGS.language.choices.map(String);

/** mcconfig's name of a board. @internal exported for a test */
export function targetOf(board: string): string {
	return board === "esp32" ? board : `esp32/${board}`;
}

/** Choices for a project. */
export interface Answers {
	readonly folder: string;
	readonly board: string;
	readonly language: string;
}

type Given = { readonly [Name in keyof Answers]: string | undefined };

/**
 * Asks for missing answers at a terminal. Without one, uses the defaults.
 *
 * @param readFolder returns the folder, and throws ProgramError if it cannot be used: another one is asked for
 * @throws ProgramError if there is neither a folder nor a terminal, or the input ends
 */
export async function askFor(
	{ folder, board, language }: Given,
	readFolder: (text: string) => string,
): Promise<Answers> {
	const [firstBoard = "", firstLanguage = ""] = [BOARDS[0], LANGUAGES[0]];
	const isComplete = folder !== undefined && board !== undefined && language !== undefined;
	if (isComplete || !process.stdin.isTTY) {
		if (folder === undefined) {
			throw new ProgramError("the folder is missing: npm create xs-mcp my-device");
		}
		return { folder, board: board ?? firstBoard, language: language ?? firstLanguage };
	}
	const terminal = createInterface({ input: process.stdin, output: process.stdout });
	let isClosed = false;
	terminal.once("close", () => {
		isClosed = true;
	});
	// Input that comes before its question is kept.
	const lines = terminal[Symbol.asyncIterator]();
	const ask = async (what: string, preset: string, read: (answer: string) => string): Promise<string> => {
		for (;;) {
			terminal.setPrompt(`${what} [${preset}]: `);
			// A closed terminal may still have answers, but takes no prompt.
			if (!isClosed) {
				terminal.prompt();
			}
			const { value, done } = await lines.next();
			if (done) {
				throw new ProgramError("nothing was made");
			}
			try {
				return read(value.trim() || preset);
			} catch (error) {
				console.log(`  ${(error as ProgramError).message}`);
			}
		}
	};
	const choose = async (
		what: string,
		choices: readonly string[],
		read = (answer: string) => answer,
	): Promise<string> => {
		console.log(`${what}s: ${choices.join(", ")}`);
		return await ask(what, choices[0] ?? "", (answer) => {
			if (!choices.includes(read(answer))) {
				throw new ProgramError(`expected ${choices.join(", ")}`);
			}
			return read(answer);
		});
	};
	try {
		return {
			folder: folder ?? (await ask("Name", "my-device", readFolder)),
			board: board ?? (await choose("Board", BOARDS, readOffered)),
			language: language ?? (await choose("Language", LANGUAGES)),
		};
	} finally {
		terminal.close();
	}
}

/** Files of the template with another place in a project. npm leaves .gitignore out of packages. */
const PLACES = { gitignore: ".gitignore", "greet.ts": "tools/greet.ts", "device.test.js": "test/device.test.js" };

const TEMPLATE = join(ROOT, "packages/xs-mcp/create/template");

/** A name that npm, mcconfig and the device's setting take. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Names that mean something else in a project. */
const TAKEN = [FIRMWARE.name, "xs-mcp-gateway", "node_modules"];

/** Plan of a project. */
export interface ProjectPlan extends Answers {
	/** Name of the device and its package. */
	readonly name: string;
	/** A folder with tarballs of the firmware and the gateway. Default: npm's registry. */
	readonly packages?: string | undefined;
}

/**
 * Writes a project into a new or empty folder.
 *
 * @throws ProgramError if the folder has something in it or cannot be written, or the name or the tarballs cannot be used
 */
export function makeProject(plan: ProjectPlan): void {
	const { folder, name, packages } = plan;
	checkPlace(folder, name);
	const dependencies =
		packages === undefined ? { [FIRMWARE.name]: `^${FIRMWARE.version}` } : tarballsIn(packages, folder);
	attempt("the project cannot be written", () => write(plan, dependencies));
}

function write({ folder, name, board, language }: ProjectPlan, dependencies: Readonly<Record<string, string>>): void {
	mkdirSync(folder, { recursive: true });
	cpSync(TEMPLATE, folder, { recursive: true });
	for (const [file, place] of Object.entries(PLACES)) {
		mkdirSync(dirname(join(folder, place)), { recursive: true });
		renameSync(join(folder, file), join(folder, place));
	}
	const words = {
		"{{name}}": name,
		"{{language}}": language,
		"{{target}}": targetOf(board),
		"pin: 4": `pin: ${freePinOf(targetOf(board))}`,
	};
	for (const file of ["README.md", "device.ts", "manifest.json", "package.json"]) {
		const text = readFileSync(join(folder, file), "utf8");
		writeFileSync(
			join(folder, file),
			Object.entries(words).reduce((all, [word, own]) => all.replaceAll(word, own), text),
		);
	}
	const manifest = join(folder, "package.json");
	writeFileSync(manifest, `${JSON.stringify({ ...readJson<object>(manifest), dependencies }, undefined, "\t")}\n`);
}

/** @throws ProgramError if the folder has something in it, or the name cannot be used */
export function checkPlace(folder: string, name: string): void {
	if (!NAME.test(name) || TAKEN.includes(name)) {
		throw new ProgramError(
			`name: expected 1 to 32 lower-case letters, digits and hyphens, a letter first, and none of ${TAKEN.join(", ")}; ` +
				`got ${JSON.stringify(name)}. --name gives another name than the folder's`,
		);
	}
	if (existsSync(folder) && !statSync(folder).isDirectory()) {
		throw new ProgramError(`${folder} is a file: name a new folder`);
	}
	if (existsSync(folder) && readdirSync(folder).length > 0) {
		throw new ProgramError(`${folder} has something in it, and nothing is overwritten: name a new or empty folder`);
	}
}

/** @throws ProgramError if the firmware's tarball is not there, or too old */
function tarballsIn(packages: string, folder: string): Record<string, string> {
	const names = existsSync(packages) ? readdirSync(packages) : [];
	const found = [FIRMWARE.name, "xs-mcp-gateway"].filter((name) => names.includes(`${name}-${FIRMWARE.version}.tgz`));
	if (!found.includes(FIRMWARE.name)) {
		const others = names.filter((each) => /^xs-mcp-\d.*\.tgz$/.test(each));
		throw new ProgramError(
			`--packages: this template needs ${FIRMWARE.name} ${FIRMWARE.version}; ${packages} has ${others.join(", ") || "no tarball of it"}`,
		);
	}
	const from = relative(folder, packages).replaceAll("\\", "/");
	return Object.fromEntries(found.map((name) => [name, `file:${from}/${name}-${FIRMWARE.version}.tgz`]));
}
