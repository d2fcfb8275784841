import type { OpenParts } from "../app/addons.js";
import { withPartNames } from "./name-tools.js";
import { busOf, loadModule, openDevice } from "./open-device.js";
import { withParts } from "./with-parts.js";

/** The parts of the module `device`, if the build has one. */
const openParts: OpenParts = (board, { tools, timer, ticks, log }) => {
	const device = openDevice();
	if (device === undefined) {
		return { board, tools, followers: [] };
	}
	const opened = withParts(board, device, { load: loadModule, bus: busOf, timer, ticks, log });
	return { ...opened, tools: withPartNames(tools, opened.board) };
};

export default openParts;
