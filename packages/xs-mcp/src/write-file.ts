import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, extname, relative, resolve, sep } from "node:path";
import { isElsewhere } from "./build/manifests.js";
import { ProgramError, readJson } from "./build/program.js";
import type { Project } from "./project.js";

/** Largest file, in characters. */
const MAX_LENGTH = 100_000;

/** Files that a project has. */
const EXTENSIONS = [".ts", ".js", ".mjs", ".json", ".md"];

/** Folders of what is installed and made. Hidden ones have settings of other programs. */
const CLOSED = /^(\..*|node_modules|build|dist)$/;

/** A tool that has a module of its own. */
const TOOL = /^tools\/[^/]+(?=\.ts$)/;

/**
 * Writes a file of a project. A new tool is also named in the manifest's `preload`, so that it lies in flash.
 *
 * @param path from the project's folder
 * @returns a report for the agent
 * @throws ProgramError if the path is not one of the project, or the file exists and is not to be overwritten
 */
export function writeProjectFile(project: Project, path: string, text: string, overwrite: boolean): string {
	const file = resolveFile(project, path);
	if (text.length > MAX_LENGTH) {
		throw new ProgramError(`text: expected at most ${MAX_LENGTH} characters, got ${text.length}`);
	}
	const exists = existsSync(file);
	if (exists && !overwrite) {
		throw new ProgramError(`${path} exists: read it, and set overwrite to true to replace it`);
	}
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text, { flag: exists ? "w" : "wx" });
	const [module] = TOOL.exec(relative(project.folder, file).replaceAll("\\", "/")) ?? [];
	const isAdded = module !== undefined && preload(project, module);
	return `${exists ? "replaced" : "wrote"} ${path}${isAdded ? `; added ${module} to preload in manifest.json` : ""}`;
}

/** @throws ProgramError */
function resolveFile({ folder }: Project, path: string): string {
	const file = resolve(folder, path);
	const inside = relative(folder, file);
	if (isElsewhere(inside) || inside.split(sep).some((step) => CLOSED.test(step))) {
		throw new ProgramError(
			`path: expected a file of the project, not in a hidden folder, node_modules or build, got ${JSON.stringify(path)}`,
		);
	}
	if (!EXTENSIONS.includes(extname(file))) {
		throw new ProgramError(
			`path: expected a file that ends with ${EXTENSIONS.join(", ")}, got ${JSON.stringify(path)}`,
		);
	}
	// A link may lead out of the folder.
	let existing = file;
	while (!existsSync(existing)) {
		existing = dirname(existing);
	}
	if (`${realpathSync(existing)}${sep}`.startsWith(`${folder}${sep}`)) {
		return file;
	}
	throw new ProgramError(`path: ${path} is a link that leads out of the project`);
}

/** Adds a module to the manifest's `preload`. @returns whether it was added */
function preload({ manifest }: Project, module: string): boolean {
	const content = readJson<{ preload?: string[] }>(manifest);
	if (content.preload === undefined || content.preload.includes(module)) {
		return false;
	}
	content.preload.push(module);
	writeFileSync(manifest, `${JSON.stringify(content, undefined, "\t")}\n`);
	return true;
}
