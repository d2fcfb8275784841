import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Build } from "./manifests.js";

/** The modules that the SDK's manifests of a build name: drivers in JavaScript, by their names. */
export function readSdkModules({ sdk }: Build, moddable = process.env.MODDABLE): ReadonlyMap<string, string> {
	const files = new Map<string, string>();
	if (moddable === undefined) {
		return files;
	}
	for (const manifest of sdk) {
		const path = expand(manifest, moddable);
		const { modules = {} } = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
		for (const [name, source] of Object.entries(modules)) {
			const file = typeof source === "string" ? `${resolve(dirname(path), expand(source, moddable))}.js` : "";
			if (existsSync(file)) {
				files.set(name, file);
			}
		}
	}
	return files;
}

function expand(path: string, moddable: string): string {
	return path.replace("$(MODDABLE)", moddable).replace("$(MODULES)", `${moddable}/modules`);
}

/** Whether a driver has functions in C: only a chip runs it. */
export function isNative(source: string): boolean {
	return /@ *"\w+"|\bNative\(|\bnative\(/.test(source);
}
