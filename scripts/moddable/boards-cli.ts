// npm run boards: prints the tables of docs/boards.md.
import { makeProgram, runProgram } from "../program.js";
import { BOARDS, CHIPS, describeBoards, measureBoards } from "./boards.js";
import { findSdk, NO_SDK } from "./sdk.js";

const program = makeProgram("run boards", "Prints the parts of each board, and links the firmware to measure its size.")
	.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, … (default: all in docs/boards.md)")
	.action(async (targets: string[]) => {
		console.log(`${describeBoards()}\n`);
		const sdk = findSdk();
		if (sdk === undefined) {
			console.error(`Not linked: ${NO_SDK}`);
			return;
		}
		const linked = targets.length > 0 ? targets : [...CHIPS, ...BOARDS].sort();
		console.log(await measureBoards(sdk, linked, (target) => console.error(`Linking ${target} …`)));
	});

await runProgram(program);
