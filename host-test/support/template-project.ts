import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "xs-mcp/create/make-project";
import { ROOT } from "xs-mcp/root";
import { readSteps } from "./guide.js";
import { moduleUrl } from "./program.js";
import { temporaryFolder } from "./testing.js";

/** The files of docs/first-device.md, a plant waterer, by their paths. */
export const GARDEN: Readonly<Record<string, string>> = Object.fromEntries(
	readSteps("first-device.md").flatMap(({ about, text }) => (about.includes(".") ? [[about, text]] : [])),
);

/** A project that is made from the template, with the package xs-mcp of these sources. */
export function templateProject(name: string, board = "esp32"): string {
	const folder = join(temporaryFolder(), name);
	makeProject({ folder, name, board, language: "en" });
	const installed = join(folder, "node_modules", "xs-mcp");
	mkdirSync(installed, { recursive: true });
	for (const path of ["src", "manifest.json"]) {
		symlinkSync(join(ROOT, path), join(installed, path));
	}
	const exports = { ".": "./src/hardware/parts/index.ts", "./test": "./test.js" };
	writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "xs-mcp", type: "module", exports }));
	const test = moduleUrl("packages/xs-mcp/src/test-device.ts");
	writeFileSync(join(installed, "test.js"), `export * from ${JSON.stringify(test)};\n`);
	return folder;
}
