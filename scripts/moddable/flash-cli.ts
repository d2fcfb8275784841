// npm run flash: builds the firmware for a chip with mcconfig, puts it there, and shows the board's log.
import { runProgram } from "../../toolchain/program.js";
import { flashProgram } from "./flash.js";
import { runPlan } from "./flash-board.js";

await runProgram(flashProgram(runPlan));
