import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";

const FOLDER = fileURLToPath(new URL("rotated", import.meta.url));

const sdk = findSdk();

it("the firmware draws on a rotated screen", { skip: sdk === undefined && NO_SDK, timeout: 300_000 }, async (t) => {
	assert.ok(sdk);
	const simulator = await Simulator.start(sdk, await buildForSimulator(sdk, FOLDER), { headless: true });
	t.after(() => simulator.stop());
	const outcome = await new Promise((resolve) => {
		simulator.on("ended", (reason) => resolve(`the machine ended: ${reason}`));
		// The first attempt comes after the first drawing, and is not the last thing that is traced.
		simulator.on("line", (line) => line.includes("next attempt in") && resolve("it goes on"));
	});
	assert.equal(outcome, "it goes on");
});
