// npm run mod: builds a mod with the SDK's mcrun, and installs it on a connected board.
import { resolve } from "node:path";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { buildModForSimulator, mcrun } from "./mcconfig.js";
import { needSdk } from "./sdk.js";

const EPILOGUE = `
Without --target the mod is built for the simulator: npm run simulator -- --mod FOLDER builds it and runs it. A board must
have the firmware of npm run flash -- --debug.`;

const program = makeProgram("run mod", "Builds a mod: tools that are added to a device without flashing it again.")
	.argument("<folder>", "the mod's folder, as examples/mod-lamp")
	.option("--target <target>", "install it on a connected board: mcconfig's name, as for npm run flash")
	.addHelpText("after", EPILOGUE);

await runProgram(
	program.action(async (folder: string, { target }: { readonly target?: string }) => {
		const sdk = needSdk();
		if (target === undefined) {
			console.log(`Built: ${await buildModForSimulator(sdk, resolve(folder))}`);
		} else {
			await mcrun(sdk, resolve(folder), ["-d", "-p", target], true);
		}
	}),
);
