// npm run boards: prints the tables of docs/boards.md.
import { makeProgram, runProgram } from "../program.js";
import { BOARDS, CHIPS, describeBoards, measureBoards } from "./boards.js";
import { findSdk, NO_SDK } from "./sdk.js";

const program = makeProgram("run boards", "Prints what each board has, and links the firmware to tell what it takes.")
	.argument("[targets...]", "what to link: esp32, esp32/m5stack_cores3, … Default: all that docs/boards.md has")
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
