import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The firmware as manifest.json builds it, for a screen that is rotated. */
const FOLDER = fileURLToPath(new URL("rotated", import.meta.url));

const sdk = findSdk();

/** Runs it until it has tried to connect, or has ended. */
async function run(test: TestContext): Promise<string> {
	const simulator = await Simulator.start(sdk as Sdk, await buildForSimulator(sdk as Sdk, FOLDER), { headless: true });
	test.after(() => simulator.stop());
	return await new Promise((resolve) => {
		simulator.on("ended", (reason) => resolve(`it ended: ${reason}`));
		// The first attempt comes after the first drawing, and is not the last thing that is traced.
		simulator.on("line", (line) => line.includes("next attempt in") && resolve("it goes on"));
	});
}

describe("the firmware in the simulator", { skip: sdk === undefined && NO_SDK }, () => {
	it("draws on a rotated screen", async (t) => {
		assert.equal(await run(t), "it goes on");
	});

	it("starts where the home folder is empty", async (t) => {
		const { HOME, XDG_CONFIG_HOME } = process.env;
		const home = temporaryFolder("xs-mcp-home-");
		Object.assign(process.env, { HOME: home });
		delete process.env.XDG_CONFIG_HOME;
		t.after(() => {
			Object.assign(process.env, { HOME, ...(XDG_CONFIG_HOME !== undefined && { XDG_CONFIG_HOME }) });
			rmSync(home, { recursive: true });
		});
		assert.equal(await run(t), "it goes on");
	});
});
