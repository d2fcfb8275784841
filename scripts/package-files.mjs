// Files that every package has beside its bundle.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, posix, relative, resolve } from "node:path";
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
 * Writes a package's README and other pages. Links between them stay; those to other files lead to the repository, or name the
 * file if its URL is not known. Pictures are left out.
 *
 * @param pages files of this repository, by their paths in the package
 * @param repository of package.json
 */
export function writePages(target, pages, repository) {
	const places = new Map(Object.entries(pages).map(([place, source]) => [source, place]));
	for (const [place, source] of Object.entries(pages)) {
		mkdirSync(dirname(`${target}/${place}`), { recursive: true });
		writeFileSync(`${target}/${place}`, publishedPage(source, places, repository));
	}
}

/**
 * A page as it is published.
 *
 * @param source its path in this repository
 * @param places the pages of the package: their paths in it, by those in this repository
 */
function publishedPage(source, places, repository) {
	const url = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository?.url ?? "")?.[1];
	const place = places.get(source);
	return readFileSync(`${root}${source}`, "utf8")
		.replace(/^<img .*>\n\n?/gm, "")
		.replace(/\[([^\]]*)\]\((?![a-z]+:|#)([^)#]*)(#[^)]*)?\)/g, (_, label, path, anchor = "") => {
			const file = relative(root, resolve(root, dirname(source), path)).replaceAll("\\", "/");
			if (places.has(file)) {
				return `[${label}](${posix.relative(dirname(place), places.get(file))}${anchor})`;
			}
			return url === undefined
				? `${label} (${file} of the repository)`
				: `[${label}](${url}/blob/v${projectVersion()}/${file}${anchor})`;
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
