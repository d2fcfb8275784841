import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import ts from "typescript";

/** What mcconfig writes for each TypeScript file of a build. */
interface FileConfig {
	/** The configuration that all files of the build share. */
	readonly extends: string;
	readonly compilerOptions: { readonly rootDir: string; readonly outDir: string };
	readonly files: readonly [string];
}

/**
 * Compiles the TypeScript files of a build for which mcconfig has written configurations. Left to itself, mcconfig's
 * makefile starts TypeScript's compiler once for each file, and each time that checks and writes all that the file
 * imports, too: minutes. Files can be compiled one by one because of `isolatedModules`; the types are checked elsewhere.
 *
 * @param folder where mcconfig builds
 * @throws Error with the compiler's messages
 */
export function compileFiles(folder: string): void {
	for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		if (path.endsWith("-tsconfig.json")) {
			compileFile(JSON.parse(readFileSync(join(folder, path), "utf8")) as FileConfig);
		}
	}
}

function compileFile({ extends: base, files: [source], compilerOptions: { rootDir, outDir } }: FileConfig): void {
	const output = join(outDir, relative(rootDir, source)).replace(/\.ts$/, ".js");
	if (!existsSync(source) || (existsSync(output) && [source, base].every((path) => isOlder(path, output)))) {
		return;
	}
	const { compilerOptions } = JSON.parse(readFileSync(base, "utf8"));
	const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, paths: {}, types: [] }, dirname(source));
	const {
		outputText,
		sourceMapText = "{}",
		diagnostics = [],
	} = ts.transpileModule(readFileSync(source, "utf8"), {
		compilerOptions: options,
		fileName: source,
		reportDiagnostics: true,
	});
	if (diagnostics.length > 0) {
		throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
	}
	const map = { ...JSON.parse(sourceMapText), file: basename(output), sources: [relative(dirname(output), source)] };
	mkdirSync(dirname(output), { recursive: true });
	writeFileSync(`${output}.map`, JSON.stringify(map));
	writeFileSync(output, outputText);
}

function isOlder(path: string, than: string): boolean {
	return statSync(path).mtimeMs < statSync(than).mtimeMs;
}
