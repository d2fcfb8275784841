// npm run simulator: the firmware in Moddable's simulator, as mcconfig builds it.
import { runProgram } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { simulatorProgram } from "./simulator.js";

await runProgram(simulatorProgram(ROOT));
