// npm run boards: prints the tables of docs/boards.md.
import { makeProgram, ProgramError, runProgram } from "../../toolchain/program.js";
import { BOARDS, CHIPS, describeBoards, explainBoard, measureBoards } from "./boards.js";
import { findSdk, NO_SDK, type Sdk } from "./sdk.js";

const program = makeProgram("run boards", "Prints the parts of each board, and links the firmware to measure its size.")
	.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, … (default: all in docs/boards.md)")
	.option("--why", "print what each module takes of the constant data instead")
	.action(async (targets: string[], { why }: { why?: true }) => {
		const sdk = findSdk();
		if (why === undefined) {
			console.log(`${describeBoards()}\n`);
		}
		if (sdk === undefined) {
			console.error(`Not linked: ${NO_SDK}`);
			return;
		}
		const linked = targets.length > 0 ? targets : [...CHIPS, ...BOARDS].sort();
		await (why ? explain(sdk, linked) : measure(sdk, linked));
	});

async function explain(sdk: Sdk, targets: readonly string[]): Promise<void> {
	for (const target of targets) {
		console.log(`${target}\n\n${await explainBoard(sdk, target)}\n`);
	}
}

async function measure(sdk: Sdk, targets: readonly string[]): Promise<void> {
	const { table, faults } = await measureBoards(sdk, targets, (target) => console.error(`Linking ${target} …`));
	console.log(table);
	if (faults.length > 0) {
		throw new ProgramError(`5 % of a partition must stay free:\n${faults.join("\n")}`);
	}
}

await runProgram(program);
