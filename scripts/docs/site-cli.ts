// npm run docs:site: makes the documentation a site of files. It publishes nothing.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { buildSite } from "./build-site.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

await runProgram(
	makeProgram("run docs:site", "Makes the documentation a site of files, with a search that needs no server.")
		.option("--to <folder>", "where it is made", ".cache/docs/site")
		.option("--source <url>", "where the sources can be read, such as https://github.com/OWNER/REPOSITORY/blob/main/")
		.action(async ({ to, source }: { readonly to: string; readonly source?: string }) => {
			const folder = resolve(ROOT, to);
			const pages = await buildSite(folder, { source });
			console.log(`${pages.length} pages: ${folder}/index.html`);
		}),
);
