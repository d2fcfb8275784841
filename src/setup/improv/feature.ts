import type { Application, Feature } from "../../app/application.js";
import type { WiFiAccess } from "../../hardware/wifi-setup.js";
import { FIRMWARE } from "../../settings/firmware.js";
import { storeNetwork } from "../../settings/known-networks.js";
import { settingText } from "../../settings/read-setting.js";
import { hostnameOf } from "../../text/hostname.js";
import { ImprovService } from "./improv-service.js";
import { SerialLine } from "./serial-line.js";

/** Milliseconds from a new network to the restart: time to send the answer. */
const RESTART_DELAY = 2_000;

/**
 * Lets a computer set up the Wi-Fi over a serial port (Improv), on a board that has one, an access point and settings.
 * The device restarts with its new network, for a clean state.
 */
const openImprov = (app: Application): void => {
	const { board, built, log } = app;
	const { serials = [], accessPoint, network, settings, system } = board;
	if (!(accessPoint && network && settings)) {
		return;
	}
	const name = hostnameOf(app.id);
	const port = settingText("http", app.source);
	const info = { firmware: FIRMWARE.name, version: FIRMWARE.version, hardware: board.name, name };
	const wifi = {
		get isJoined() {
			return network.online;
		},
		url: port === "" ? "" : `http://${name}.local:${port}/mcp`,
		networks: () => accessPoint.scan(),
		async apply(access: WiFiAccess) {
			const isJoined = await accessPoint.join(access);
			log(`Improv: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(access.ssid)}`);
			if (isJoined) {
				storeNetwork(access, { built, settings });
				system.restart(RESTART_DELAY);
			}
			return isJoined;
		},
	};
	const lines = serials.map((serial) => {
		const service = new ImprovService({ info, wifi, write: (packet) => line?.write(packet), log });
		let line: SerialLine | undefined;
		try {
			line = new SerialLine(serial, (bytes) => service.read(bytes));
		} catch (error) {
			log(`Improv: could not open the serial port: ${String(error)}`);
		}
		return line;
	});
	app.listen({
		onClose() {
			for (const line of lines) {
				line?.close();
			}
		},
	});
};

const improv: Feature = { name: "improv", rescue: true, start: openImprov };

export default improv;
