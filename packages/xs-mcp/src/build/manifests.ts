import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type BuildFailure, transformSync } from "esbuild";
import { ROOT } from "../root.js";
import { attempt, failAs, ProgramError } from "./program.js";
import { didYouMean, nearest } from "./suggest.js";

/** The key in `modules` of files that are left out of a build, even if a later pattern matches them. */
const LEFT_OUT = "~";

/** One value, or a list of them. */
type List<T> = T | readonly T[];

/**
 * Members of a manifest that are read here. Paths are relative to its folder. A path with `$` is in a folder that `build` names,
 * or in the SDK.
 */
interface Manifest {
	readonly build?: Readonly<Record<string, string>>;
	readonly include?: List<string>;
	readonly modules?: Readonly<Record<string, List<string | { readonly source: string }>>>;
	readonly preload?: List<string>;
	readonly config?: Readonly<Record<string, unknown>>;
	readonly defines?: { readonly firmware?: { readonly project?: string; readonly version?: string } };
	readonly platforms?: Readonly<Record<string, Omit<Manifest, "platforms">>>;
}

/**
 * Reads the modules of a manifest and of those it includes, as mcconfig does.
 *
 * @param manifest path from the project's folder
 * @param target as mcconfig calls it, or "virtual"
 * @returns paths of sources from the project's folder, by the names of their modules
 * @throws Error that names the manifest and its fault
 */
export function readModules(manifest: string, target: string): ReadonlyMap<string, string> {
	const modules = new Map<string, string>();
	readInto(modules, new Set(), manifest, target);
	for (const name of [...modules.keys()].filter((each) => each.startsWith(LEFT_OUT))) {
		modules.delete(name);
	}
	return modules;
}

/** @param read manifests that were read before */
function readInto(found: Map<string, string>, read: Set<string>, path: string, target: string): void {
	if (read.has(path)) {
		return;
	}
	read.add(path);
	const manifest = readManifest(path);
	const parts = [manifest, findPlatform(manifest, target)];
	for (const included of parts.flatMap(({ include = [] }) => include)) {
		const place = expand(included, manifest);
		// Other folders are the SDK's.
		if (!place.startsWith("$")) {
			const file = resolve(ROOT, dirname(path), place);
			if (!existsSync(file)) {
				throw new Error(`${shown(path)}: "include" names ${included}, which does not exist`);
			}
			// A package manager may have made a link to the firmware.
			readInto(found, read, fromProject(realpathSync(file)), target);
		}
	}
	for (const { modules = {} } of parts) {
		for (const [name, sources] of Object.entries(modules)) {
			for (const each of [sources].flat()) {
				const source = typeof each === "object" ? each?.source : each;
				if (typeof source !== "string") {
					throw new Error(`${shown(path)}: "modules": "${name}": expected a path, got ${JSON.stringify(each)}`);
				}
				if (!source.startsWith("$")) {
					addModules(found, path, name, source);
				}
			}
		}
	}
}

const OBJECTS: readonly string[] = ["build", "config", "modules", "platforms"];
const LISTS: readonly string[] = ["include", "preload"];

/** Members of a project's manifest. mcconfig has more, and ignores what it does not know. */
const MEMBERS: readonly string[] = [...OBJECTS, ...LISTS, "creation", "defines", "resources"];

const isObject = (value: unknown): value is Manifest =>
	typeof value === "object" && value !== null && !Array.isArray(value);

const isString = (value: unknown): boolean => typeof value === "string";

/** Reads a manifest. @param path from the project's folder. @throws ProgramError that names the manifest, and the line of its fault */
export function readManifest(path: string): Manifest {
	const file = shown(path);
	const text = attempt(file, () => readFileSync(join(ROOT, path), "utf8"));
	if (text.startsWith("\ufeff")) {
		throw new ProgramError(
			`${file}: starts with a byte order mark (BOM), which mcconfig does not read: save it as UTF-8 without one`,
		);
	}
	const manifest = parseJson(text, file);
	if (!isObject(manifest)) {
		throw new ProgramError(`${file}: expected an object with build, include, modules, preload and config`);
	}
	// Other characters mark a member that is switched off, such as "//config".
	const misspelled = Object.keys(manifest).find(
		(name) => /^[a-z]+$/i.test(name) && !MEMBERS.includes(name) && nearest(name, MEMBERS),
	);
	if (misspelled !== undefined) {
		throw new ProgramError(`${file}: unknown member ${misspelled}${didYouMean(misspelled, MEMBERS)}`);
	}
	for (const [name, value] of Object.entries(manifest)) {
		const isList = LISTS.includes(name);
		if ((OBJECTS.includes(name) && !isObject(value)) || (isList && ![value].flat().every(isString))) {
			const expected = isList ? "a string or a list of strings" : "an object";
			throw new ProgramError(`${file}: ${name}: expected ${expected}, got ${JSON.stringify(value)}`);
		}
	}
	return manifest;
}

/** Makes an error of the bundler's messages, a line each with its file. Returns undefined for other errors. */
export function bundlerErrors(cause: unknown, describe = (text: string): string => text): Error | undefined {
	const { errors } = (cause ?? {}) as Partial<BuildFailure>;
	const lines = errors?.map(({ text, location }) =>
		location === null ? text : `${location.file}:${location.line}:${location.column + 1}: ${describe(text)}`,
	);
	return lines && new Error(lines.join("\n"), { cause });
}

/** @throws ProgramError that names the file, and mostly the line and the expected character */
function parseJson(text: string, file: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		try {
			transformSync(text, { loader: "json", sourcefile: file, logLevel: "silent" });
		} catch (cause) {
			throw new ProgramError(bundlerErrors(cause)?.message);
		}
		return failAs(file)(error);
	}
}

/** Replaces a variable by the folder that the manifest assigns to it. */
function expand(path: string, { build = {} }: Manifest): string {
	return path.replace(/^\$\((\w+)\)/, (variable, name) =>
		build[name]?.startsWith("$") === false ? build[name] : variable,
	);
}

/** The part of a manifest for a target or, without that, for its platform. */
function findPlatform({ platforms = {} }: Manifest, target: string): Manifest {
	return platforms[target] ?? platforms[`${dirname(target)}/*`] ?? platforms[dirname(target)] ?? {};
}

/** Adds a module, or each module of a folder that a pattern matches. */
function addModules(modules: Map<string, string>, path: string, name: string, source: string): void {
	if (!source.includes("/")) {
		throw new Error(`${shown(path)}: "modules" names ${source}, which is not a path`);
	}
	const file = relative(ROOT, resolve(ROOT, dirname(path), source));
	const folder = join(ROOT, dirname(file));
	const [start = "", ...rest] = basename(file).split("*");
	const isPattern = rest.length > 0;
	const found = (existsSync(folder) ? readdirSync(folder) : [])
		.filter((each) => /\.(ts|m?js|c|h)$/.test(each))
		.map((each) => each.replace(/\.\w+$/, ""))
		.filter((each) => (isPattern ? each.startsWith(start) : each === start || each === `${start}.d`));
	// A project may have no tools.
	if (found.length === 0 && !(isPattern && isElsewhere(path))) {
		throw new Error(`${shown(path)}: "modules" names ${source}, which does not exist`);
	}
	// mcconfig takes typings for modules that a build may lack.
	for (const each of new Set(found.filter((name) => !name.endsWith(".d")))) {
		if (/\s/.test(each)) {
			throw new Error(
				`${shown(join(dirname(file), each))}: the SDK's makefiles take no spaces in the name of a module`,
			);
		}
		const own = join(dirname(file), each);
		const module =
			name === LEFT_OUT ? `${LEFT_OUT}/${own}` : name.replace("*", isPattern ? each.slice(start.length) : each);
		const code = [`${own}.ts`, `${own}.js`, `${own}.mjs`].find((each) => existsSync(join(ROOT, each)));
		if (code !== undefined && ![...modules.values()].includes(code)) {
			modules.set(module, code);
		}
	}
}

/** The path of a file from the project's folder, as the functions here take it. */
export function fromProject(file: string): string {
	return relative(ROOT, resolve(file)).replaceAll("\\", "/");
}

/** Whether a path from the project's folder leads out of it: to a project of its own that includes this one. */
export function isElsewhere(path: string): boolean {
	return path.startsWith("..") || isAbsolute(path);
}

/** A path as an error names it: from the project's folder, or from where the program runs. */
export function shown(path: string): string {
	return isElsewhere(path) ? relative(process.cwd(), join(ROOT, path)) : path;
}

/** A module's name: its path from the project's folder, without extension. */
export function moduleOf(file: string): string {
	return relative(ROOT, file)
		.replaceAll("\\", "/")
		.replace(/\.\w+$/, "");
}
