// npm run flash: builds the firmware for a chip with mcconfig, and puts it there.
import { fileURLToPath } from "node:url";
import { runProgram } from "../program.js";
import { describeBuild } from "./describe-build.js";
import { flashProgram } from "./flash.js";
import { checkTypes, linkForChip, mcconfig } from "./mcconfig.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

await runProgram(
	flashProgram(async ({ sdk, target, args, settings, linkOnly }) => {
		checkTypes();
		console.log(await describeBuild(sdk, ROOT, target, settings));
		if (linkOnly) {
			console.log("Compiling and linking …");
			await linkForChip(sdk, ROOT, target.name, args);
			console.log(`The firmware links for ${target.name}.`);
		} else {
			await mcconfig(sdk, ROOT, args, { show: true });
		}
	}),
);
