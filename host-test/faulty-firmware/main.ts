// A mod that is linked into the firmware: a tool that fails on demand. If the setting `fault` says so, it fails as it is
// loaded, which is at the firmware's start. For host-test/esp32/faults.test.ts.
import built from "mc/config";
import Timer from "timer";
import { enumeration } from "../../src/mcp_server/schema.js";
import { defineTool } from "../../src/tools/support/define-tool.js";

const FAULTS: Readonly<Record<string, () => void>> = {
	/** Never returns. */
	loop: () => {
		for (;;) {}
	},

	/** Ends the machine: nobody catches what a timer throws. */
	throw: () => {
		Timer.set(() => {
			throw new Error("thrown on purpose");
		}, 1);
	},

	panic: () => {
		native("xs_faulty_panic").call(undefined);
	},
};

FAULTS[String((built as { readonly fault?: unknown }).fault)]?.();

export default [
	defineTool({
		name: "self.test.fail",
		description: "Fail on purpose.",
		needs: [],
		input: { fault: enumeration(["loop", "throw", "panic"]) },
		run: ({ fault }) => {
			FAULTS[fault]?.();
			return true;
		},
	}),
];
