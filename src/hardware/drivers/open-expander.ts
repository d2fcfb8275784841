import Timer from "timer";
import { inBuild } from "../../platform/in-build.js";
import type { BoardData, OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";

/** An expander with a controller of its own starts late: milliseconds between attempts, and their number. */
const PAUSE = 200;
const ATTEMPTS = 6;

/** Sets the outputs of an I/O expander, which may switch the supplies of other parts. */
export default (({ data: { expander } }) => {
	type SetExpander = (bus: object, data: BoardData["expander"]) => void;
	const set = inBuild<SetExpander>("src/hardware/drivers/expander");
	const isSet = (): true | undefined => {
		set?.(boardBus(), expander);
		return true;
	};
	for (let attempt = 1; openOptional("expander", isSet) === undefined && attempt < ATTEMPTS; attempt += 1) {
		Timer.delay(PAUSE);
	}
}) satisfies OpenMember;
