// npm run pack:mcpb [FOLDER]: makes FOLDER/xs-mcp-gateway.mcpb, the bridge to a running gateway as an extension of Claude Desktop.
// https://github.com/anthropics/mcpb/blob/main/MANIFEST.md
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packExtension } from "@anthropic-ai/mcpb";
import { Command } from "commander";
import { bundle } from "./bundle.mjs";
import { projectVersion, writeLicences, writePrograms } from "./package-files.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
/** What the bridge does not need of the gateway's bundle, for the packer. */
const NOT_NEEDED = "console\n";

const program = new Command("pack-mcpb.mjs")
	.description("Makes the bridge to a running gateway an extension of Claude Desktop.")
	.argument("[folder]", "where it is made", "gateway/dist")
	.parse();
const folder = resolve(root, program.processedArgs[0]);
const extension = `${folder}/mcpb`;

/** Claude Desktop asks for `user_config`, and keeps the token in the system's key store. */
function manifestOf({ name, license, keywords, engines, bin }) {
	return {
		manifest_version: "0.3",
		name,
		display_name: "Devices with xs-mcp",
		version: projectVersion(),
		description: "The tools of microcontrollers behind an xs-mcp gateway",
		author: { name: "xs-mcp" },
		license,
		keywords,
		server: {
			type: "node",
			entry_point: bin[name],
			mcp_config: {
				command: "node",
				args: [`\${__dirname}/${bin[name]}`, "stdio"],
				env: { XS_MCP_GATEWAY_URL: `\${user_config.url}`, XS_MCP_GATEWAY_TOKEN: `\${user_config.token}` },
			},
		},
		tools_generated: true,
		prompts_generated: true,
		compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
		user_config: {
			url: {
				type: "string",
				title: "Gateway",
				description: "URL of the running gateway",
				default: "http://127.0.0.1:8766",
				required: true,
			},
			token: {
				type: "string",
				title: "Token",
				description: "Token of a client, if the gateway has tokens: xs-mcp-gateway token add NAME --for client",
				default: "",
				sensitive: true,
				required: false,
			},
		},
	};
}

rmSync(extension, { recursive: true, force: true });
const source = JSON.parse(readFileSync(`${root}gateway/package.json`, "utf8"));
writeLicences(extension, await bundle("gateway", extension, { isWhole: true, sourcemap: false }));
writePrograms(extension, source);
writeFileSync(`${extension}/package.json`, JSON.stringify({ type: "module" }));
writeFileSync(`${extension}/.mcpbignore`, NOT_NEEDED);
const manifest = manifestOf(source);
writeFileSync(`${extension}/manifest.json`, `${JSON.stringify(manifest, undefined, "\t")}\n`);
// Validates the manifest first.
const isPacked = await packExtension({
	extensionPath: extension,
	outputPath: `${folder}/${manifest.name}.mcpb`,
	silent: true,
});
process.exitCode = isPacked ? 0 : 1;
