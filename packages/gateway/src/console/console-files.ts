import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentTypeOf, pagePolicy } from "../http/page-headers.js";
import type { Route } from "../http/route.js";

/** The console's folder next to the gateway's bundle. */
export const BESIDE_BUNDLE = fileURLToPath(new URL("./console/", import.meta.url));

const POLICY = pagePolicy("'self' data:", "data:");

/**
 * Reads the console that `xs-mcp/bundle` has made.
 *
 * @param folder the console's folder, by default next to the gateway's bundle
 * @returns undefined if there is no such folder: sources that were not bundled have no console
 */
export function readConsole(folder = BESIDE_BUNDLE) {
	const page = join(folder, "index.html");
	if (!existsSync(page)) {
		return undefined;
	}
	const names = readdirSync(folder).filter((name) => /^console-[A-Z0-9]+\.(?:js|css)$/.test(name));
	return {
		/** `GET /`: the page, which is asked for again each time. */
		page: serveFile(page, { "Cache-Control": "no-cache", "Content-Security-Policy": POLICY }),
		/** Its scripts and style sheets by their names, which change with their contents. */
		assets: new Map(
			names.map((name) => [
				name,
				serveFile(join(folder, name), { "Cache-Control": "public, max-age=31536000, immutable" }),
			]),
		),
	};
}

/** Reads the page of a device's panel in chats; undefined if it was not bundled. */
export function readPanel(folder = BESIDE_BUNDLE): string | undefined {
	const panel = join(folder, "panel.html");
	return existsSync(panel) ? readFileSync(panel, "utf8") : undefined;
}

function serveFile(path: string, headers: Readonly<Record<string, string>>): Route {
	const body = readFileSync(path);
	return (c) => c.body(body, 200, { ...headers, "Content-Type": contentTypeOf(path) });
}
