// npm run pack:mcpb [FOLDER]: makes FOLDER/xs-mcp-gateway.mcpb, the bridge to a running gateway as an extension of Claude Desktop.
// https://github.com/anthropics/mcpb/blob/main/MANIFEST.md
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packExtension } from "@anthropic-ai/mcpb";
import { Command } from "commander";
import { bundle } from "../toolchain/bundle.mjs";
import { projectVersion, writeLicences } from "./package-files.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
/** What the bridge does not need of the gateway's bundle, for the packer. */
const NOT_NEEDED = "console\nglyphs*\nmcpb\n";

const program = new Command("pack-mcpb.mjs")
	.description("Makes the bridge to a running gateway an extension of Claude Desktop.")
	.argument("[folder]", "where it is made", "gateway/dist")
	.parse();
const folder = resolve(root, program.processedArgs[0]);
const extension = `${folder}/mcpb`;

rmSync(extension, { recursive: true, force: true });
writeLicences(extension, await bundle("gateway", extension, { sourcemap: false }));
copyFileSync(`${root}LICENSE`, `${extension}/LICENSE`);
copyFileSync(`${extension}/mcpb/main.mjs`, `${extension}/main.mjs`);
writeFileSync(`${extension}/package.json`, JSON.stringify({ type: "module" }));
writeFileSync(`${extension}/.mcpbignore`, NOT_NEEDED);
// Claude Desktop asks for `user_config`, and keeps the token in the system's key store.
const manifest = JSON.parse(readFileSync(`${extension}/mcpb/manifest.json`, "utf8"));
manifest.version = projectVersion();
writeFileSync(`${extension}/manifest.json`, `${JSON.stringify(manifest, undefined, "\t")}\n`);
// Validates the manifest first.
const isPacked = await packExtension({
	extensionPath: extension,
	outputPath: `${folder}/${manifest.name}.mcpb`,
	silent: true,
});
process.exitCode = isPacked ? 0 : 1;
