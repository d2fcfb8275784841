import { inBuild } from "../../platform/in-build.js";
import type { BoardData, OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";

/** Sets the outputs of an I/O expander, which may switch the supplies of other parts. */
export default (({ data: { expander } }) => {
	type SetExpander = (bus: object, data: BoardData["expander"]) => void;
	const set = inBuild<SetExpander>("src/hardware/drivers/expander");
	openOptional("expander", () => set?.(boardBus(), expander));
}) satisfies OpenMember;
