import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { noSdk } from "../support/sdk.js";
import { temporaryFolder } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

/** The firmware as manifest.json builds it, for a screen that is rotated. */
const MANIFEST = fileURLToPath(new URL("../fixtures/manifest_rotated.json", import.meta.url));

async function run(test: TestContext): Promise<void> {
	const { lines } = await startSimulator(test, MANIFEST, [], {
		isReady: (line) => /next attempt in|^it ended/.test(line),
	});
	assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
}

describe("the firmware in the simulator", { skip: noSdk }, () => {
	it("draws on a rotated screen", async (t) => {
		await run(t);
	});

	it("keeps its settings for the next start", async (t) => {
		// Where the SDK keeps them on Linux. Other simulators write there, too, but none that has no settings.
		const path = "/tmp/modpreferences.json";
		rmSync(path, { force: true });
		await run(t);
		const { board } = JSON.parse(readFileSync(path, "utf8")) as { readonly board?: { readonly mac?: string } };
		assert.match(board?.mac ?? "", /^02:/);
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
		await run(t);
	});
});
