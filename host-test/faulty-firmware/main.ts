// A mod that is linked into the firmware: a tool that fails on demand. The fault that it is told to plant is stored, and
// fails the firmware that is installed next, as soon as that is loaded. For host-test/esp32/faults.test.ts.
import Preference from "preference";
import Timer from "timer";
import { esp32Bootloader } from "../../src/hardware/drivers/chip/esp32-bootloader.js";
import { enumeration } from "../../src/mcp_server/schema.js";
import { defineTool } from "../../src/tools/define-tool.js";

const FAULTS: Readonly<Record<string, () => void>> = {
	loop: () => {
		for (;;) {}
	},

	/** Nobody catches what a timer throws. */
	throw: () => {
		Timer.set(() => {
			throw new Error("thrown on purpose");
		}, 1);
	},

	panic: () => {
		native("xs_faulty_panic").call(undefined);
	},
};

const PLANTED = ["faulty", "fault"] as const;

const UPDATED = "ota_1";

if (esp32Bootloader.label === UPDATED) {
	FAULTS[String(Preference.get(...PLANTED))]?.();
}

const input = { fault: enumeration(["loop", "throw", "panic"]) };

export default [
	defineTool({
		name: "self.test.fail",
		description: "Fail on purpose.",
		needs: [],
		input,
		run: ({ fault }) => {
			FAULTS[fault]?.();
			return true;
		},
	}),
	defineTool({
		name: "self.test.plant",
		description: "Let the firmware that is installed next fail at its start.",
		needs: [],
		input,
		run: ({ fault }) => {
			Preference.set(...PLANTED, fault);
			return true;
		},
	}),
];
