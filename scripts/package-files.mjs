// Files that every package has beside its bundle.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

const PROGRAM = `#!/usr/bin/env node
import { runCommandLine } from "../cli.js";

await runCommandLine(process.argv.slice(2));
`;

/** The project's version, which all packages have: CONTRIBUTING.md. */
export function projectVersion() {
	const [, version] = /version: "([^"]+)"/.exec(readFileSync(`${root}src/settings/firmware.ts`, "utf8"));
	return version;
}

/** The programs that a package.json names, and the project's licence. */
export function writePrograms(target, { bin = {} }) {
	mkdirSync(`${target}/bin`, { recursive: true });
	for (const path of Object.values(bin)) {
		writeFileSync(`${target}/${path}`, PROGRAM, { mode: 0o755 });
	}
	copyFileSync(`${root}LICENSE`, `${target}/LICENSE`);
}

/**
 * A package's README as it is published: links out of its folder lead to the repository. Without its URL they name the file.
 *
 * @param name the package's folder
 * @param repository of package.json
 */
export function publishedReadme(name, repository) {
	const url = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository?.url ?? "")?.[1];
	const text = readFileSync(`${root}${name}/README.md`, "utf8");
	return text.replace(/\[([^\]]*)\]\((\.\.\/[^)]*)\)/g, (_, label, path) => {
		const file = relative(root, resolve(root, name, path)).replaceAll("\\", "/");
		return url === undefined
			? `${label} (${file} of the repository)`
			: `[${label}](${url}/blob/v${projectVersion()}/${file})`;
	});
}

/** The licences of the packages that are part of the bundle. */
export function writeLicences(target, inputs) {
	const folders = new Set(
		inputs.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll("\\", "/")) ?? []),
	);
	const texts = [...folders].sort().map((folder) => {
		const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
		const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
		const text = file === undefined ? "" : `\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}`;
		return `${name} ${version}: ${license}${text}`;
	});
	writeFileSync(`${target}/THIRD-PARTY-LICENSES`, `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
