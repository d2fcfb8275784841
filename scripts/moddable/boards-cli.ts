// npm run boards: prints the tables of docs/boards.md.
import { makeProgram, ProgramError, runProgram } from "../../toolchain/program.js";
import { BOARDS, CHIPS, describeBoards, measureBoards } from "./boards.js";
import { findSdk, NO_SDK, type Sdk } from "./sdk.js";

const program = makeProgram("run boards", "Prints the parts of each board, and links the firmware to measure its size.")
	.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, … (default: all in docs/boards.md)")
	.action(async (targets: string[]) => {
		console.log(`${describeBoards()}\n`);
		const sdk = findSdk();
		if (sdk === undefined) {
			console.error(`Not linked: ${NO_SDK}`);
			return;
		}
		await measure(sdk, targets.length > 0 ? targets : [...CHIPS, ...BOARDS].sort());
	});

async function measure(sdk: Sdk, targets: readonly string[]): Promise<void> {
	const { table, faults } = await measureBoards(sdk, targets, (target) => console.error(`Linking ${target} …`));
	console.log(table);
	if (faults.length > 0) {
		throw new ProgramError(`5 % of a partition must stay free:\n${faults.join("\n")}`);
	}
}

await runProgram(program);
