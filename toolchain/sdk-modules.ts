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

/** Whether a driver has functions in C. */
export function isNative(source: string): boolean {
	return /@ *"\w+"|\bNative\(|\bnative\(/.test(source);
}

/**
 * Lets functions of another module stand in for a driver's functions in C, which have the names of those.
 *
 * @param source of the driver, in the SDK's dialect: `sample() @ "xs_sample";`
 * @param natives path of that module
 * @returns JavaScript. A function that the module lacks throws Error once it is called
 */
export function withNatives(source: string, natives: string): string {
	const body = (_: string, name: string): string =>
		`) { const run = natives["${name}"]; if (!run) throw new Error("${name}: in C, only a chip has it"); return run.apply(this, arguments); }`;
	const plain = source.replace(/\) *@ *"(\w+)" *;/g, body).replace(/ @ *"\w+"/g, "");
	return `import * as natives from ${JSON.stringify(natives)};\n${plain}`;
}
