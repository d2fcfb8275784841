// npm run flash: builds the firmware for a chip with mcconfig, and puts it there.
import { fileURLToPath } from "node:url";
import { runCommand } from "./command-line.js";
import { planFlash } from "./flash.js";
import { mcconfig } from "./mcconfig.js";

await runCommand("flash", async () => {
	const plan = planFlash(process.argv.slice(2), process.env);
	if (plan.help !== undefined) {
		process.stdout.write(plan.help);
		return;
	}
	await mcconfig(plan.sdk, fileURLToPath(new URL("../..", import.meta.url)), plan.args, true);
});
