import type { Feature } from "../app/application.js";
import { withPartNames } from "./name-tools.js";
import { busOf, loadModule, openDevice } from "./open-device.js";
import { addParts } from "./with-parts.js";

/** The parts of the module `device`, if the build has one. */
const parts: Feature = {
	name: "parts",
	after: ["log"],
	start(app) {
		const device = openDevice();
		if (device !== undefined) {
			const { timer, ticks, log } = app;
			app.listen(addParts(app.board, device, { load: loadModule, bus: busOf, timer, ticks, log }));
			app.tools = withPartNames(app.tools, app.board);
		}
	},
};

export default parts;
