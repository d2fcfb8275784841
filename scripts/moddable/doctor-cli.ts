// npm run doctor: reports what is missing to build for a board or the simulator, and the command that fixes it.
import { Option } from "commander";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { thisComputer } from "./computer.js";
import { describeFindings, examine, PURPOSES, type Purpose } from "./doctor.js";

const EPILOGUE = `
Purposes: device (npm run device), simulator (npm run simulator), link (npm run flash -- --link-only), build (--build-only,
npm run firmware), flash (npm run flash). Exit code 1 if something is missing that the purpose needs.`;

interface Options {
	readonly for: Purpose;
	readonly json?: boolean;
}

const program = makeProgram("run doctor", "Reports what is missing, and the command that fixes it.")
	.addOption(new Option("--for <purpose>", "task to check for").choices(PURPOSES).default("flash"))
	.option("--json", "write JSON: purpose, ok, findings")
	.addHelpText("after", EPILOGUE)
	.action(({ for: purpose, json = false }: Options) => {
		const findings = examine(purpose, thisComputer());
		const ok = findings.every(({ status }) => status !== "missing");
		console.log(json ? JSON.stringify({ purpose, ok, findings }, null, 2) : describeFindings(findings));
		process.exitCode = ok ? 0 : 1;
	});

await runProgram(program);
