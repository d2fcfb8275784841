import { describe } from "node:test";
import { type FindTools, findChips, type QemuTools } from "./qemu/qemu.js";

/**
 * Runs a suite on each chip that QEMU emulates. It is skipped where a tool is missing, which the reason names.
 *
 * @param topic of the suite, for its title
 * @param find as `findChips` has it
 */
export function describeChips(topic: string, suite: (tools: QemuTools) => void, find?: FindTools): void {
	for (const { title, tools } of findChips(find)) {
		describe(`${title} in QEMU: ${topic}`, { skip: typeof tools === "string" && tools }, () =>
			suite(tools as QemuTools),
		);
	}
}
