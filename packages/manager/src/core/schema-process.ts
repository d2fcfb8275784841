// The process in which schema-checker.ts runs checks that may take too much time or memory.
import { createContext, Script } from "node:vm";
import { checkValue, type ValueCheck } from "./schema-validator.js";

/** Milliseconds for a check: the gateway ends this process earlier, unless it has been killed itself. */
const ORPHAN_TIMEOUT = 10_000;

const context = createContext({ checkValue });
const script = new Script("checkValue(checked)");

process.on("message", (checked: ValueCheck) => {
	context.checked = checked;
	process.send?.(script.runInContext(context, { timeout: ORPHAN_TIMEOUT }));
});
process.send?.({});
