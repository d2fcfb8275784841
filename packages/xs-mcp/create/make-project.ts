import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { freePinOf } from "xs-mcp/build/check-board";
import { attempt, ProgramError, readJson } from "xs-mcp/build/program";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { type Answers, targetOf } from "./questions.js";

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
