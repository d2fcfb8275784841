import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { transformSync } from "esbuild";
import { makeReleaseSource } from "../../toolchain/release/release-source.js";

/** mcconfig's configuration of a TypeScript file. */
interface FileConfig {
	/** The configuration that all files of the build share. */
	readonly extends: string;
	readonly compilerOptions: { readonly rootDir: string; readonly outDir: string };
	readonly files: readonly [string];
}

/** Input of a build beside its sources. */
const TRANSFORMATION = [
	"compile.ts",
	"../../toolchain/release/release-source.ts",
	"../../toolchain/release/plain-members.ts",
	"../../toolchain/release/arrow-functions.ts",
].map((name) => new URL(name, import.meta.url));

/** Of syntax, what matters is `void 0`: XS searches the global object for `undefined` at each use. */
const SHORT = { charset: "utf8", minifyIdentifiers: true, minifySyntax: true } as const;

/** The files in which the SDK links all modules and all resources. */
const LINKED = ["mc.xs.c", "mc.resources.c"];

/** All objects in C: the SDK's makefile adds to it, and so keeps those whose sources are gone. */
const ARCHIVE = /^xs_esp32\w*\.a$/;

/**
 * Empties a build folder that another version of this project has written. Removes the archive of objects, and the linked
 * files if the manifest or the arguments differ from those of the last build. Make compares timestamps only: it does not notice a changed list.
 *
 * @param folder where mcconfig builds; created
 * @param what it builds: the manifest's folder, and the arguments
 */
export function prepareFolder(folder: string, what: readonly string[]): void {
	const hash = createHash("sha256");
	for (const url of TRANSFORMATION) {
		hash.update(readFileSync(url));
	}
	const version = hash.digest("hex");
	if (isOther(join(folder, "transformation"), version)) {
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "transformation"), version);
	}
	const text = what.join("\n");
	const changed = isOther(join(folder, "built"), text);
	for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		if (ARCHIVE.test(basename(path)) || (changed && LINKED.includes(basename(path)))) {
			rmSync(join(folder, path));
		}
	}
	writeFileSync(join(folder, "built"), text);
}

function isOther(file: string, text: string): boolean {
	return !existsSync(file) || readFileSync(file, "utf8") !== text;
}

/**
 * Compiles the TypeScript files of a build for which mcconfig has written configurations. Left to itself, mcconfig's
 * makefile starts TypeScript's compiler once for each file, and each time that checks and writes all that the file
 * imports, too: minutes. Files can be compiled one by one because of `isolatedModules`; the types are checked elsewhere.
 *
 * @param folder where mcconfig builds
 * @param shortNames whether variables get short names. XS keeps every name in flash: a slot, two table entries and its
 * text, about 35 bytes. Private members and functions become smaller, too ({@link makeReleaseSource}), and the lines
 * differ from the source's
 * @throws Error with the compiler's messages
 */
export function compileFiles(folder: string, shortNames: boolean): void {
	for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		if (path.endsWith("-tsconfig.json")) {
			compileFile(JSON.parse(readFileSync(join(folder, path), "utf8")) as FileConfig, shortNames);
		}
	}
}

function compileFile(
	{ extends: base, files: [source], compilerOptions: { rootDir, outDir } }: FileConfig,
	shortNames: boolean,
): void {
	const output = join(outDir, relative(rootDir, source)).replace(/\.ts$/, ".js");
	if (!existsSync(source) || (existsSync(output) && [source, base].every((path) => isOlder(path, output)))) {
		return;
	}
	const text = readFileSync(source, "utf8");
	const { code, map } = transformSync(shortNames ? makeReleaseSource(text) : text, {
		loader: "ts",
		format: "esm",
		target: "es2022",
		charset: "utf8",
		sourcemap: "external",
		sourcesContent: false,
		...(shortNames && SHORT),
		tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
	});
	const sources = [relative(dirname(output), source)];
	mkdirSync(dirname(output), { recursive: true });
	writeFileSync(`${output}.map`, JSON.stringify({ ...JSON.parse(map), file: basename(output), sources }));
	// A file of types compiles to nothing.
	writeFileSync(output, `${code || "export {};\n"}//# sourceMappingURL=${basename(output)}.map\n`);
}

/**
 * Makes the SDK's own JavaScript smaller, too. mcconfig's makefile hands each file to xsc: a program of that name, which goes
 * first in PATH, takes the shortened copy instead.
 *
 * @param folder where mcconfig has written its makefiles
 * @returns the folder of that program
 */
export function shortenScripts(folder: string): string {
	const copies = join(folder, "short-names");
	mkdirSync(copies, { recursive: true });
	for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		const makefile = basename(path) === "makefile" ? readFileSync(join(folder, path), "utf8") : "";
		for (const [, source = ""] of makefile.matchAll(/^\txsc (\/\S+\.js) /gm)) {
			shortenScript(source, `${copies}${source}`);
		}
	}
	const script = `#!/bin/sh\nPATH="\${PATH#*:}"\nfile="$1"\nshift\n[ -f "${copies}$file" ] && file="${copies}$file"\nexec xsc "$file" "$@"\n`;
	writeFileSync(join(copies, "xsc"), script, { mode: 0o755 });
	return copies;
}

function shortenScript(source: string, copy: string): void {
	if (existsSync(copy) && isOlder(source, copy)) {
		return;
	}
	mkdirSync(dirname(copy), { recursive: true });
	try {
		const text = makeReleaseSource(readFileSync(source, "utf8"));
		const { code } = transformSync(text, { ...SHORT, format: "esm", target: "esnext" });
		writeFileSync(copy, code);
	} catch {
		// A class whose methods are in C has a syntax that only xsc knows: it stays as it is.
	}
}

function isOlder(path: string, than: string): boolean {
	return statSync(path).mtimeMs < statSync(than).mtimeMs;
}
