import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { DeviceDefinition } from "../../src/parts/index.js";
import { fromProject, moduleOf, readBuild, shown } from "../../toolchain/manifests.js";
import { ROOT } from "../../toolchain/root.js";
import { findState, type Import, readImports } from "./module-source.js";

/** The module that a project imports, and the manifest that brings it with all parts and their tools. */
const PACKAGE = "xs-mcp";
const PARTS = "src/parts/manifest.json";
const EXPORTS = join(ROOT, "src/parts/index.ts");

/** The modules of every build with parts. */
const OPENER = join(ROOT, "src/parts/feature.ts");

/** Begins the names of the SDK's drivers and IO classes, which its manifests preload. */
const SDK_CLASS = "embedded:";

/** A project's build for a chip. */
export interface ProjectManifest {
	/** Texts of files of one folder, by their names. One is manifest.json. */
	readonly files: Readonly<Record<string, string>>;
	/** Which of the project's modules lie in RAM, and why. */
	readonly notes: readonly string[];
}

/**
 * Makes the manifest with which a project is built for a chip. It includes the project's own, leaves out the parts and tools
 * that nothing uses, and preloads the project's modules into flash, but for those that keep state.
 *
 * @param folder of the project's manifest
 * @param target as mcconfig calls it
 */
export function makeProjectManifest(folder: string, target: string, { parts }: DeviceDefinition): ProjectManifest {
	const included = join(folder, "manifest.json");
	const others = filesOf(included, target, [PARTS]);
	const brought = new Map([...filesOf(included, target)].filter(([path]) => !others.has(path)));
	const own = new Map([...others].filter(([path]) => !isFirmware(path)));
	const tools = Object.values(parts).map(({ makes }) => `src/tools/${makes}/`);
	const roots = [...brought].filter(([path, name]) => path === OPENER || tools.some((start) => name.startsWith(start)));
	const sources = new Sources();
	const used = sources.reach([...roots.map(([path]) => path), ...own.keys()]);
	const notes = [...own].flatMap(([path, name]) => {
		const why = sources.whyInRam(path);
		return why === undefined ? [] : [[name, `${name} lies in RAM, not in flash: ${why}`] as const];
	});
	const inRam = new Map(notes);
	const manifest = {
		include: included,
		modules: {
			"~": [...brought.keys()].filter((path) => !used.has(path)).map((path) => path.replace(/\.ts$/, "")),
			[PACKAGE]: "./xs-mcp",
		},
		preload: [PACKAGE, ...[...own.values()].filter((name) => !inRam.has(name))],
	};
	const text = JSON.stringify(manifest, undefined, "\t");
	return { files: { "manifest.json": text, "xs-mcp.ts": sources.packageFor(own.keys()) }, notes: [...inRam.values()] };
}

/** The names of a build's modules, by their files. */
function filesOf(manifest: string, target: string, without: readonly string[] = []): Map<string, string> {
	const { modules } = readBuild(fromProject(manifest), target, without);
	return new Map([...modules].map(([name, path]) => [join(ROOT, path), name]));
}

function isFirmware(path: string): boolean {
	return path.startsWith(join(ROOT, "src/"));
}

/** The modules of a build, and what they import. */
class Sources {
	readonly #imports = new Map<string, readonly Import[]>();
	/** The imports that stand for what the package exports, by its name. */
	readonly #exports = new Map(
		readImports(EXPORTS).flatMap(({ from, names }) => names.map((name) => [name, resolveFile(EXPORTS, from)] as const)),
	);

	/** All files that some files need, with these. */
	reach(paths: Iterable<string>): ReadonlySet<string> {
		const reached = new Set(paths);
		// A set also iterates over what is added meanwhile.
		for (const path of reached) {
			for (const each of this.#filesOf(path)) {
				reached.add(each);
			}
		}
		return reached;
	}

	/** Why a module of the project is not preloaded; undefined if it is. */
	whyInRam(path: string): string | undefined {
		for (const each of this.reach([path])) {
			if (!isFirmware(each)) {
				const state = findState(readFileSync(each, "utf8"), PACKAGE);
				const foreign = this.#importsOf(each).find(
					({ from }) => from !== PACKAGE && !from.startsWith(".") && !from.startsWith(SDK_CLASS),
				);
				if (state !== undefined || foreign !== undefined) {
					return `${shown(fromProject(each))}, ${state ?? `imports ${foreign?.from}`}`;
				}
			}
		}
		return undefined;
	}

	/** The package with those of its exports that some modules import. */
	packageFor(paths: Iterable<string>): string {
		const lines = [...paths]
			.flatMap((path) => this.#namesOf(path))
			.map((name) => `export { ${name} } from "${moduleOf(this.#exports.get(name) as string)}";\n`);
		return [...new Set(lines)].sort().join("");
	}

	#filesOf(path: string): string[] {
		const relative = this.#importsOf(path).filter(({ from }) => from.startsWith("."));
		return [
			...relative.map(({ from }) => resolveFile(path, from)),
			...this.#namesOf(path).map((name) => this.#exports.get(name) as string),
		];
	}

	/** The names that a module imports of the package: all of them if it names none. */
	#namesOf(path: string): string[] {
		const found = this.#importsOf(path).filter(({ from }) => from === PACKAGE);
		return found.flatMap(({ names }) => (names.length === 0 ? [...this.#exports.keys()] : names));
	}

	#importsOf(path: string): readonly Import[] {
		const imports = this.#imports.get(path) ?? readImports(path);
		this.#imports.set(path, imports);
		return imports;
	}
}

function resolveFile(importer: string, from: string): string {
	return resolve(dirname(importer), from.replace(/\.js$/, ".ts"));
}
