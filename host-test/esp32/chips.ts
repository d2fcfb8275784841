import { describe } from "node:test";
import { buildForQemu, type FindTools, findChips, type QemuImage, type QemuTools } from "./qemu.js";

interface Chips {
	/** Topic of the suite, for its title. */
	readonly topic: string;
	/** Manifest of the firmware. Default: the project's. */
	readonly firmware?: string;
	readonly find?: FindTools;
}

/** Runs a suite on each chip that QEMU emulates. The image is built once for all its tests. */
export function describeChips(
	{ topic, firmware, find }: Chips,
	suite: (build: () => Promise<QemuImage>, tools: QemuTools) => void,
): void {
	for (const { title, tools } of findChips(find)) {
		let image: Promise<QemuImage> | undefined;
		const build = (): Promise<QemuImage> => {
			image ??= buildForQemu(tools as QemuTools, [], firmware);
			return image;
		};
		describe(`${title} in QEMU: ${topic}`, { skip: typeof tools === "string" && tools }, () =>
			suite(build, tools as QemuTools),
		);
	}
}
