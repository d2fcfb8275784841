import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ZipFile } from "yazl";
import type { Route } from "../http/route.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { GATEWAY_INFO } from "../version.js";

/** Where the gateway's bundle has its console. */
const CONSOLE_IN_BUNDLE = fileURLToPath(new URL("./console/", import.meta.url));

/** What the extension has of the bundle: scripts, and licences. */
const NEEDED = /^[^.]+\.c?js$|LICENSE/;

/** The bridge to this gateway as an extension of Claude Desktop (MCPB), made from the bundle that the gateway runs from. */
export class ClaudeExtension {
	readonly #folder: string;

	private constructor(folder: string) {
		this.#folder = folder;
	}

	/**
	 * @param consoleFolder default: the one in the gateway's bundle
	 * @returns undefined if that is not in a bundle of the gateway
	 */
	static find(consoleFolder = CONSOLE_IN_BUNDLE): ClaudeExtension | undefined {
		const folder = join(consoleFolder, "..");
		return existsSync(join(folder, "mcpb", "manifest.json")) ? new ClaudeExtension(folder) : undefined;
	}

	/** `GET /console/xs-mcp-gateway.mcpb`: it asks for the token, and knows the address by which it was downloaded. */
	download(guard: RequestGuard): Route {
		return async (c) => {
			const { incoming } = c.env;
			const scheme = guard.isSecure(incoming) ? "https" : "http";
			const file = await this.#make(`${scheme}://${incoming.headers.host}`);
			c.header("Content-Type", "application/octet-stream");
			c.header("Content-Disposition", 'attachment; filename="xs-mcp-gateway.mcpb"');
			c.header("Cache-Control", "no-store");
			return c.body(new Uint8Array(file));
		};
	}

	async #make(url: string): Promise<Buffer> {
		const { user_config: config, ...manifest } = JSON.parse(await this.#text("mcpb/manifest.json"));
		const described = {
			...manifest,
			version: GATEWAY_INFO.version,
			user_config: { ...config, url: { ...config.url, default: url } },
		};
		const zip = new ZipFile();
		const add = (name: string, text: string): void => zip.addBuffer(Buffer.from(text), name);
		add("manifest.json", JSON.stringify(described, undefined, "\t"));
		add("main.mjs", await this.#text("mcpb/main.mjs"));
		add("package.json", '{ "type": "module" }\n');
		for (const name of (await readdir(this.#folder)).filter((each) => NEEDED.test(each))) {
			zip.addBuffer(await readFile(join(this.#folder, name)), name);
		}
		zip.end();
		return await buffer(zip.outputStream);
	}

	async #text(name: string): Promise<string> {
		return await readFile(join(this.#folder, name), "utf8");
	}
}
