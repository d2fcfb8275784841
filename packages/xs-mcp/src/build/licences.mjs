import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Writes the licences of the packages whose files are in a bundle. Paths of these are relative to the repository. */
export function writeLicences(target, inputs) {
	const folders = new Set(inputs.flatMap((path) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
	const texts = [...folders].sort().map((each) => {
		const folder = `${root}${each}`;
		const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
		const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
		const text = file === undefined ? "" : `\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}`;
		return `${name} ${version}: ${license}${text}`;
	});
	writeFileSync(`${target}/THIRD-PARTY-LICENSES`, `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
