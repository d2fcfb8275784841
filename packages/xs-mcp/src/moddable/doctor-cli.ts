// npm run doctor: reports what is missing to build for a board or the simulator, and the command that fixes it.
import { Option } from "commander";
import { makeProgram, runProgram } from "../build/program.js";
import { describeFindings, examine, PURPOSES, type Purpose } from "./doctor.js";

const EPILOGUE = `
Purposes: device (npm run device), simulator (npm run simulator), link (npm run flash -- --link-only), build (--build-only,
npm run firmware), flash (npm run flash). Exit code 1 if something is missing that the purpose needs.`;

const program = makeProgram("run doctor", "Reports what is missing, and the command that fixes it.")
	.addOption(new Option("--for <purpose>", "task to check for").choices(PURPOSES).default("flash"))
	.addHelpText("after", EPILOGUE)
	.action(({ for: purpose }: { readonly for: Purpose }) => {
		const findings = examine(purpose);
		console.log(describeFindings(findings));
		process.exitCode = findings.some(({ status }) => status === "missing") ? 1 : 0;
	});

await runProgram(program);
