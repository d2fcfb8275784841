// npm run pack: makes the packages that are published.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Argument } from "commander";
import { makeProgram, runProgram } from "../toolchain/program.js";
import { ROOT } from "../toolchain/root.js";

const { PACKAGES, pack } = await import(pathToFileURL(join(ROOT, "toolchain/bundle.mjs")).href);

await runProgram(
	makeProgram("run pack", "Makes the tarballs of packages, and the gateway's extension for Claude Desktop.")
		.addArgument(new Argument("[packages...]", "their folders (default: all)").choices(PACKAGES))
		.option("--to <folder>", "where they are made", "dist")
		.action(async (packages: readonly string[], { to }: { readonly to: string }) => {
			for (const name of packages.length === 0 ? PACKAGES : packages) {
				await pack(name, resolve(to));
			}
		}),
);
