import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ProgramError } from "../../toolchain/program.js";
import { makeIndex } from "./page/search-index.js";
import { layOut } from "./page-layout.js";
import { readMap } from "./read-map.js";
import { addressOf, type RenderedPage, renderPage } from "./render-page.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

interface SiteOptions {
	/** Where files that are not pages can be read: https://…/blob/main/. Default: links to them become text. */
	readonly source?: string | undefined;
}

/**
 * Makes the documentation a site of files that a browser opens from a folder or a server.
 *
 * @returns the paths of its pages
 * @throws ProgramError if a link in it leads nowhere
 */
export async function buildSite(folder: string, { source }: SiteOptions = {}): Promise<string[]> {
	const paths = execFileSync("git", ["ls-files", "*.md"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
	const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
	const surroundings = { pages: new Set(paths), source };
	const pages = paths
		.filter((path) => existsSync(join(ROOT, path)))
		.map((path) => renderPage(path, read(path), surroundings));
	const map = readMap(read("README.md"));
	rmSync(folder, { recursive: true, force: true });
	const write = (path: string, text: string): void => {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	};
	for (const page of pages) {
		write(addressOf(page.path), layOut(page, map));
		for (const picture of page.pictures) {
			cpSync(join(ROOT, picture), join(folder, picture));
		}
	}
	write("search-index.js", `searchIndex = ${JSON.stringify(makeIndex(sectionsOf(pages)))};\n`);
	write("site.css", readFileSync(new URL("page/site.css", import.meta.url), "utf8"));
	await build({
		entryPoints: [fileURLToPath(new URL("page/search.ts", import.meta.url))],
		outfile: join(folder, "site.js"),
		bundle: true,
		minify: true,
		format: "iife",
		target: "es2022",
		logLevel: "error",
	});
	checkLinks(folder, pages);
	return pages.map(({ path }) => addressOf(path));
}

function sectionsOf(pages: readonly RenderedPage[]) {
	return pages
		.filter(({ path }) => !/\.[a-z]{2}(-[A-Z]{2})?\.md$/.test(path))
		.flatMap(({ path, title, sections }) =>
			sections.map((section) => ({ ...section, page: title, url: `${addressOf(path)}#${section.anchor}` })),
		);
}

function checkLinks(folder: string, pages: readonly RenderedPage[]): void {
	const anchors = new Map(pages.map(({ path, sections }) => [addressOf(path), sections.map(({ anchor }) => anchor)]));
	const broken = pages.flatMap(({ path, html }) => {
		const from = addressOf(path);
		return [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
			.map(([, target]) => target as string)
			.filter((target) => !/^[a-z]+:/.test(target))
			.filter((target) => {
				const [file = "", anchor] = target.split("#");
				const to = file === "" ? from : posix.normalize(posix.join(posix.dirname(from), file));
				return !existsSync(join(folder, to)) || (anchor !== undefined && !anchors.get(to)?.includes(anchor));
			})
			.map((target) => `${path}: ${target}`);
	});
	if (broken.length > 0) {
		throw new ProgramError(`links that lead nowhere:\n${broken.join("\n")}`);
	}
}
