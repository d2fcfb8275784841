import type { Board } from "../../hardware/hardware.js";
import type { WiFiAccess } from "../../hardware/wifi-setup.js";
import { FIRMWARE } from "../../settings/firmware.js";
import { storeNetwork } from "../../settings/known-networks.js";
import { type SettingSource, settingText } from "../../settings/read-setting.js";
import { hostnameOf } from "../../text/hostname.js";
import { ImprovService } from "./improv-service.js";
import { SerialLine } from "./serial-line.js";

interface OpenImprovOptions extends Pick<SettingSource, "built"> {
	readonly board: Pick<Board, "name" | "serials" | "accessPoint" | "network" | "settings" | "system">;
	readonly log: (message: string) => void;
}

/** Milliseconds from a new network to the restart: time to send the answer. */
const RESTART_DELAY = 2_000;

/**
 * Lets a computer set up the Wi-Fi over a serial port (Improv), on a board that has one. The device restarts with its
 * new network, for a clean state.
 *
 * @returns undefined if the board has no access point or settings
 */
export const openImprov = (options: OpenImprovOptions): { close(): void } | undefined => {
	const { serials = [], accessPoint, network, settings, system } = options.board;
	if (!(accessPoint && network && settings && system)) {
		return undefined;
	}
	const { board, built, log } = options;
	const name = hostnameOf(system.macAddress);
	const port = settingText("http", { built, settings });
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
	return {
		close() {
			for (const line of lines) {
				line?.close();
			}
		},
	};
};

export default openImprov;
