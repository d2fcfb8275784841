// ts-node's compiler: esbuild, with its output kept on disk, so that a program compiles only what has changed since.
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { version } = require("esbuild/package.json");

const FOLDER = join(__dirname, "..", ".cache", "ts-node", `esbuild-${version}`);

/** Input of the compiler beside the source. */
const OPTIONS = {
	format: "esm",
	target: "es2022",
	sourcemap: "external",
	tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
};

function compile(source, fileName) {
	const { code, map } = require("esbuild").transformSync(source, { ...OPTIONS, loader: "ts", sourcefile: fileName });
	return { outputText: code, sourceMapText: map };
}

function readCached(path) {
	try {
		return JSON.parse(readFileSync(path, "utf8"));
	} catch {
		return undefined;
	}
}

/** Written beside and renamed: processes that compile the same file never read half of it. */
function writeCached(path, output) {
	const temporary = `${path}.${process.pid}`;
	writeFileSync(temporary, JSON.stringify(output));
	renameSync(temporary, path);
}

exports.create = () => {
	mkdirSync(FOLDER, { recursive: true });
	return {
		transpile(source, { fileName }) {
			const path = join(FOLDER, createHash("sha1").update(fileName).update("\0").update(source).digest("hex"));
			const cached = readCached(path);
			if (cached !== undefined) {
				return cached;
			}
			const output = compile(source, fileName);
			writeCached(path, output);
			return output;
		},
	};
};
