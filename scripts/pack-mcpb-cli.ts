// npm run pack:mcpb [FOLDER]: makes FOLDER/xs-mcp-gateway.mcpb, the bridge to a running gateway as an extension of Claude Desktop.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeExtension } from "../gateway/src/console/claude-extension.js";
import { makeProgram, runProgram } from "../toolchain/program.js";

interface Bundler {
	bundle(name: string, folder: string, options: object): Promise<string[]>;
}

interface PackageFiles {
	writeLicences(folder: string, inputs: readonly string[]): void;
}

const { bundle }: Bundler = await import(new URL("../toolchain/bundle.mjs", import.meta.url).href);
const { writeLicences }: PackageFiles = await import(new URL("package-files.mjs", import.meta.url).href);

async function packExtension(target: string): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-extension-"));
	try {
		writeLicences(folder, await bundle("gateway", folder, { sourcemap: false }));
		copyFileSync(new URL("../LICENSE", import.meta.url), join(folder, "LICENSE"));
		mkdirSync(target, { recursive: true });
		writeFileSync(join(target, "xs-mcp-gateway.mcpb"), await makeExtension(folder));
	} finally {
		rmSync(folder, { recursive: true });
	}
}

await runProgram(
	makeProgram("run pack:mcpb", "Makes the bridge to a running gateway an extension of Claude Desktop.")
		.argument("[folder]", "where it is made", "gateway/dist")
		.action((folder: string) => packExtension(resolve(folder))),
);
