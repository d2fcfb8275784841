// npm run simulator: the firmware as mcconfig builds it, in Moddable's simulator.
import { runProgram } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { simulatorProgram } from "./simulator-program.js";

await runProgram(simulatorProgram(ROOT));
