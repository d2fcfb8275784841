import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import type { Route } from "../http/route.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { GATEWAY_INFO } from "../version.js";
import { BESIDE_BUNDLE } from "./console-files.js";

/** The extension's files of the bundle: scripts and licences. */
const NEEDED = /^[^.]+\.c?js$|^(THIRD-PARTY-)?LICENSE/;

/**
 * `GET /console/xs-mcp-gateway.mcpb`: the bridge to this gateway as an extension of Claude Desktop (MCPB), made from the bundle that
 * the gateway runs from. It asks for the token, and knows the address by which it was downloaded.
 *
 * @param consoleFolder default: the one in the gateway's bundle
 * @returns undefined if that is not in a bundle of the gateway
 */
export function claudeExtension(guard: RequestGuard, consoleFolder = BESIDE_BUNDLE): Route | undefined {
	const folder = join(consoleFolder, "..");
	if (!existsSync(join(folder, "mcpb-manifest.json"))) {
		return undefined;
	}
	return async (c) => {
		const { incoming } = c.env;
		const scheme = guard.isSecure(incoming) ? "https" : "http";
		const file = await makeExtension(folder, `${scheme}://${incoming.headers.host}`);
		c.header("Content-Type", "application/octet-stream");
		c.header("Content-Disposition", 'attachment; filename="xs-mcp-gateway.mcpb"');
		c.header("Cache-Control", "no-store");
		return c.body(file);
	};
}

/**
 * Makes the extension.
 *
 * @param folder the bundle of the gateway
 * @param url the address that it offers. Default: that of a gateway on the same machine
 * @returns the file: https://github.com/anthropics/mcpb/blob/main/MANIFEST.md
 */
export async function makeExtension(folder: string, url?: string): Promise<Uint8Array<ArrayBuffer>> {
	const manifest = JSON.parse(await readFile(join(folder, "mcpb-manifest.json"), "utf8"));
	manifest.version = GATEWAY_INFO.version;
	manifest.user_config.url.default = url ?? manifest.user_config.url.default;
	const files: Record<string, Uint8Array> = {
		"manifest.json": strToU8(JSON.stringify(manifest, undefined, "\t")),
		"package.json": strToU8('{ "type": "module" }\n'),
	};
	for (const name of (await readdir(folder)).filter((each) => NEEDED.test(each))) {
		files[name] = await readFile(join(folder, name));
	}
	return zipSync(files);
}
