import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleGateway } from "../../bundle.js";

/** The program as it is published, which Node runs by itself. */
export interface BundledProgram {
	/** Path of the file to run. */
	readonly program: string;
	readonly remove: () => void;
}

/** Makes the files that are published, in a folder of this process's own in which the libraries are found. */
export async function bundleProgram(): Promise<BundledProgram> {
	const folder = fileURLToPath(new URL(`../../../.cache/gateway-${process.pid}`, import.meta.url));
	const program = `${folder}/start.mjs`;
	await bundleGateway(folder);
	writeFileSync(program, 'import { runCommandLine } from "./cli.js";\nawait runCommandLine(process.argv.slice(2));\n');
	return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
