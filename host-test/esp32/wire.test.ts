// The suite of the wire on an ESP32-C3 in QEMU. Run by npm run test:esp32.
import { buildForQemu, findQemuTools, type QemuImage, type QemuTools } from "../../scripts/moddable/qemu.js";
import { describeWire } from "../e2e/wire-suite.js";
import { startDevice } from "./device.js";

/** The board's tools, without its user-only tools. */
const COMMON_TOOLS = 1;
/** An eighth of the chunks. */
const MAX_MESSAGE = 8_192;

const tools = findQemuTools();
let image: Promise<QemuImage> | undefined;

describeWire(
	"an ESP32-C3 in QEMU",
	async (t) => {
		image ??= buildForQemu(tools as QemuTools);
		const { backend, console } = await startDevice(t, { image: await image });
		return { backend, name: "esp32c3_qemu", tools: COMMON_TOOLS, maxMessage: MAX_MESSAGE, log: console };
	},
	{ skip: typeof tools === "string" && tools },
);
