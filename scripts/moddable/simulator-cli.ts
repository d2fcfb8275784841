// npm run simulator: the firmware as mcconfig builds it, in Moddable's simulator.
import { fileURLToPath } from "node:url";
import { runProgram } from "../../toolchain/program.js";
import { simulatorProgram } from "./simulator-program.js";

await runProgram(simulatorProgram(fileURLToPath(new URL("../..", import.meta.url))));
