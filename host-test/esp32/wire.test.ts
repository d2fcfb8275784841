// The suite of the wire on each chip that QEMU emulates. Run by npm test -- --esp32.

import { describeWire } from "../../e2e/wire-suite.js";
import { describeChips } from "./chips.js";
import { startDevice } from "./device.js";

/** The board's tools, without its user-only tools. */
const COMMON_TOOLS = 1;
/** An eighth of the chunks. */
const MAX_MESSAGE = 8_192;

describeChips({ topic: "the wire" }, (build, tools) => {
	describeWire(tools.title, async (t) => {
		const { backend, console } = await startDevice(t, { image: await build() });
		return { backend, name: "qemu", tools: COMMON_TOOLS, audio: false, maxMessage: MAX_MESSAGE, log: console };
	});
});
