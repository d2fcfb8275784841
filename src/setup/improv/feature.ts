import type { Board } from "../../hardware/hardware.js";
import { FIRMWARE } from "../../settings/firmware.js";
import { type SettingSource, settingText, storeSetting } from "../../settings/read-setting.js";
import { hostnameOf } from "../../text/hostname.js";
import { ImprovService } from "./improv-service.js";
import { SerialLine } from "./serial-line.js";

interface OpenImprovOptions extends Pick<SettingSource, "built"> {
	readonly board: Pick<Board, "name" | "serial" | "accessPoint" | "network" | "settings" | "system">;
	readonly log: (message: string) => void;
}

/** Milliseconds from a new network to the restart: time to send the answer. */
const RESTART_DELAY = 2_000;

/**
 * Lets a computer set up the Wi-Fi over the serial port (Improv), on a board that has one. The device restarts with its
 * new network, for a clean state.
 *
 * @returns undefined if the board has no serial port, access point or settings, or something else uses the port
 */
export const openImprov = ({ board, built, log }: OpenImprovOptions): { close(): void } | undefined => {
	const { serial, accessPoint, network, settings, system } = board;
	if (!(serial && accessPoint && network && settings && system)) {
		return undefined;
	}
	const name = hostnameOf(system.macAddress);
	const port = settingText("http", { built, settings });
	const service = new ImprovService({
		info: { firmware: FIRMWARE.name, version: FIRMWARE.version, hardware: board.name, name },
		wifi: {
			get isJoined() {
				return network.online;
			},
			url: port === "" ? "" : `http://${name}.local:${port}/mcp`,
			networks: () => accessPoint.scan(),
			async apply(access) {
				const isJoined = await accessPoint.join(access);
				log(`Improv: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(access.ssid)}`);
				if (isJoined) {
					storeSetting("ssid", access.ssid, settings);
					storeSetting("password", access.password, settings);
					system.restart(RESTART_DELAY);
				}
				return isJoined;
			},
		},
		write: (packet) => line.write(packet),
		log,
	});
	let line: SerialLine;
	try {
		line = new SerialLine(serial, (bytes) => service.read(bytes));
	} catch (error) {
		log(`Improv: could not open the serial port: ${String(error)}`);
		return undefined;
	}
	return line;
};

export default openImprov;
