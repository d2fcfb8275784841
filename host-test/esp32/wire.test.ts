// The suite of the wire on each chip that QEMU emulates. Run by npm run test:esp32.

import { describeWire } from "../e2e/wire-suite.js";
import { describeChips } from "./chips.js";
import { startDevice } from "./device.js";
import { buildForQemu, type QemuImage } from "./qemu/qemu.js";

/** The board's tools, without its user-only tools. */
const COMMON_TOOLS = 1;
/** An eighth of the chunks. */
const MAX_MESSAGE = 8_192;

describeChips("the wire", (tools) => {
	let image: Promise<QemuImage> | undefined;
	describeWire(tools.title, async (t) => {
		image ??= buildForQemu(tools);
		const { backend, console } = await startDevice(t, { image: await image });
		return { backend, name: "qemu", tools: COMMON_TOOLS, audio: false, maxMessage: MAX_MESSAGE, log: console };
	});
});
