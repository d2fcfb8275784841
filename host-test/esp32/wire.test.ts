// The suite of the wire on each chip that QEMU emulates. Run by npm run test:esp32.
import { buildForQemu, findChips, type QemuImage, type QemuTools } from "../../scripts/moddable/qemu.js";
import { describeWire } from "../e2e/wire-suite.js";
import { startDevice } from "./device.js";

/** The board's tools, without its user-only tools. */
const COMMON_TOOLS = 1;
/** An eighth of the chunks. */
const MAX_MESSAGE = 8_192;

for (const { title, tools } of findChips()) {
	let image: Promise<QemuImage> | undefined;
	describeWire(
		`${title} in QEMU`,
		async (t) => {
			image ??= buildForQemu(tools as QemuTools);
			const { backend, console } = await startDevice(t, { image: await image });
			return { backend, name: "qemu", tools: COMMON_TOOLS, maxMessage: MAX_MESSAGE, log: console };
		},
		{ skip: typeof tools === "string" && tools },
	);
}
