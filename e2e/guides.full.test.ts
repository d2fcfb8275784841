import { rmSync } from "node:fs";
import { describe, it } from "node:test";
import { NO_SDK } from "xs-mcp/moddable/sdk";
import { carryOut, copyWorkTree, stepsWithoutBoard } from "../host-test/support/guide.js";

const GUIDES = ["add-a-tool.md", "first-board.md", "mods.md"];

const hasSdk = Boolean(process.env.MODDABLE);

describe("the guides", {
	skip: process.platform === "win32" && "their commands are for a POSIX shell",
}, () => {
	for (const guide of GUIDES) {
		it(`docs/${guide} works as it is written`, (t) => {
			const folder = copyWorkTree();
			t.after(() => rmSync(folder, { recursive: true }));
			const steps = stepsWithoutBoard(guide);
			const end = steps.findIndex(({ about }) => about === "sdk" && !hasSdk);
			let output = "";
			for (const step of steps.slice(0, end < 0 ? steps.length : end)) {
				output = carryOut(step, folder, output);
			}
			if (steps[end]?.about === "sdk") {
				t.diagnostic(`not built: ${NO_SDK}`);
			}
		});
	}
});
