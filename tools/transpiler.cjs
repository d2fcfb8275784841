// ts-node's compiler: esbuild, with its output kept on disk, so that a program compiles only what has changed since.
const { createHash } = require("node:crypto");
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { version } = require("esbuild/package.json");

const FOLDER = join(__dirname, "..", ".cache", "ts-node", `esbuild-${version}`);

/** Input of the compiler beside the source. */
const OPTIONS = {
	loader: "ts",
	format: "esm",
	target: "es2022",
	supported: { "import-attributes": true },
	sourcemap: "external",
	tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
};

exports.create = () => {
	mkdirSync(FOLDER, { recursive: true });
	return { transpile };
};

function transpile(source, { fileName }) {
	const path = join(FOLDER, createHash("sha1").update(fileName).update("\0").update(source).digest("hex"));
	if (!existsSync(path)) {
		const { code, map } = require("esbuild").transformSync(source, { ...OPTIONS, sourcefile: fileName });
		// Renamed: processes that compile the same file never read half of it.
		const temporary = `${path}.${process.pid}`;
		writeFileSync(temporary, JSON.stringify({ outputText: code, sourceMapText: map }));
		renameSync(temporary, path);
	}
	return JSON.parse(readFileSync(path, "utf8"));
}
