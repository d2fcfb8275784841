import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import setExpander from "./expander.js";
import { boardBus, openOptional } from "./open-optional.js";

/** A PY32 is a microcontroller that starts late: milliseconds between attempts, and their number. */
const PAUSE = 200;
const ATTEMPTS = 6;

/** Sets the outputs of an I/O expander, which may switch the supplies of other parts. */
export default (({ data: { expander } }) => {
	if (expander === undefined) {
		return;
	}
	const setOutputs = (attempts: number): void => {
		try {
			setExpander(boardBus(), expander);
		} catch (error) {
			if (attempts <= 1) {
				throw error;
			}
			Timer.delay(PAUSE);
			setOutputs(attempts - 1);
		}
	};
	openOptional("expander", () => setOutputs(expander.driver === "py32" ? ATTEMPTS : 1));
}) satisfies OpenMember;
