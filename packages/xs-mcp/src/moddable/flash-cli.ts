// npm run flash: builds the firmware for a chip with mcconfig, and puts it there.
import { runProgram } from "../build/program.js";
import { flashProgram } from "./flash.js";

await runProgram(flashProgram());
