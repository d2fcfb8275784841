import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT } from "../root.js";

/** Bundles the gateway's console, if its sources have changed. Resolves with its folder. */
export async function bundleConsole(): Promise<string> {
	return await bundlePage("console");
}

/** Bundles a virtual device's page, if its sources have changed. Resolves with its folder, which the package xs-mcp has. */
export async function bundleDevicePage(): Promise<string> {
	const packed = `${ROOT}device-page`;
	return existsSync(packed) ? packed : await bundlePage("device-page");
}

/** Imports the bundler by its path, so that bundles with this file do not contain it. */
async function bundlePage(name: string): Promise<string> {
	const { cachedBundle } = await import(pathToFileURL(`${ROOT}packages/xs-mcp/src/build/bundle.mjs`).href);
	return fileURLToPath(await cachedBundle(name));
}
