import type { TestContext } from "node:test";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import type { Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { until } from "./until.js";

/**
 * Builds the firmware of a folder with these settings, and runs it in the simulator until the test ends.
 *
 * @param isReady a line of the log for which this waits. Default: none
 * @returns the lines of its log
 */
export async function startSimulator(
	t: TestContext,
	sdk: Sdk | undefined,
	folder: string,
	settings: readonly string[],
	isReady?: (line: string) => boolean,
): Promise<string[]> {
	const library = await buildForSimulator(sdk as Sdk, folder, [...settings]);
	const simulator = await Simulator.start(sdk as Sdk, library, { headless: true });
	t.after(() => simulator.stop());
	const lines: string[] = [];
	simulator.on("line", (line) => lines.push(line));
	simulator.on("ended", (reason) => lines.push(`it ended: ${reason}`));
	if (isReady !== undefined) {
		await until(() => lines.some(isReady), "the firmware is ready");
	}
	return lines;
}
