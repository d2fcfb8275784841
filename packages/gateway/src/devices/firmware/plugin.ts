import { definePlugin, FOLDER, inGroup, setting } from "../../plugin.js";
import type { FirmwareOffers } from "./firmware-route.js";

/** Offers devices the firmware of a folder. */
export const firmware = definePlugin({
	name: "firmware",
	settings: inGroup("How devices find the gateway", {
		firmwareFolder: setting(FOLDER, "Folder with firmware for devices: MODEL_VERSION.bin"),
	}),
	setup: async (gateway): Promise<FirmwareOffers | undefined> => {
		const { addFirmwareRoute, openFirmware } = await import("./firmware-route.js");
		const { firmwareFolder } = gateway.settings;
		const offers = firmwareFolder ? openFirmware(firmwareFolder, gateway.key, gateway.updates) : undefined;
		addFirmwareRoute(gateway, offers);
		return offers;
	},
});
