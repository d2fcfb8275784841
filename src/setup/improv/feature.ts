import type { Feature } from "../../app/application.js";
import { ImprovService } from "./improv-service.js";

/** Lets a computer set up the Wi-Fi over a serial port, on a board that has one, an access point and settings. */
const improv: Feature = {
	name: "improv",
	rescue: true,
	start(app) {
		const { serials = [], accessPoint, network, settings } = app.board;
		if (accessPoint === undefined || network === undefined || settings === undefined) {
			return;
		}
		for (const serial of serials) {
			try {
				app.listen(new ImprovService(app, { accessPoint, network, settings }, serial));
			} catch (error) {
				app.log(`Improv: could not open the serial port: ${String(error)}`);
			}
		}
	},
};

export default improv;
