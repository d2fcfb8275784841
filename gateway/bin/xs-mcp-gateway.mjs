#!/usr/bin/env node
// In the repository the program runs from its sources; a published package holds it in one file.
import { existsSync } from "node:fs";

const register = new URL("../../scripts/register.mjs", import.meta.url);
if (existsSync(register)) {
	await import(register);
}
const program = existsSync(register) ? "../src/cli/command-line.ts" : "../dist/cli.js";
const { runCommandLine } = await import(new URL(program, import.meta.url));
await runCommandLine(process.argv.slice(2));
