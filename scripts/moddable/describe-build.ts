import { readParts, toolsOf } from "./board-parts.js";
import { describePlan, planMemory } from "./memory-plan.js";
import type { Sdk } from "./sdk.js";
import type { Target } from "./targets.js";

/**
 * A summary before a build: its memory, and the parts missing on a target without its own board.
 *
 * @param folder the manifest's
 * @param settings of the firmware: "ssid=…"
 * @throws SdkError when mcconfig fails
 */
export async function describeBuild(
	sdk: Sdk,
	folder: string,
	target: Target,
	settings: readonly string[],
): Promise<string> {
	const plan = describePlan(await planMemory(sdk, folder, target, settings));
	return target.bare ? `${describeBareChip(target)}\n${plan}` : plan;
}

function describeBareChip({ name, chip, board }: Target): string {
	const { parts = [] } = readParts([board]).get(board) ?? {};
	return [
		`${name} is built as a bare ${chip} (src/boards/${board}), without what else may be on the board.`,
		`Absent tools: ${toolsOf(parts).absent.join(", ")}.`,
	].join("\n");
}
