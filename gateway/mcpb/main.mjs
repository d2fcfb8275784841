import { runCommandLine } from "./cli.js";

await runCommandLine(process.argv.slice(2));
