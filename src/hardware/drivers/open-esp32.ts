import UDP from "embedded:io/socket/udp";
import Time from "time";
import Timer from "timer";
import WiFi from "wifi";
import type { UdpRecord } from "../../protocols/udp-socket.js";
import type { Board, SerialRecord } from "../hardware.js";
import type { AccessPoint } from "../wifi-setup.js";
import { esp32Usb } from "./esp32-usb.js";
import { openChip } from "./open-chip.js";
import { openWiFi } from "./open-wifi.js";
import { softAccessPoint } from "./soft-access-point.js";
import { UsbSerial } from "./usb-serial.js";
import type { WiFiNetwork } from "./wifi-network.js";

/** The address that ESP-IDF gives the chip in its own network. */
const ADDRESS = "192.168.4.1";

/**
 * The parts of every ESP32 board with Wi-Fi: Wi-Fi, an access point, the chip's USB port, and those of `openChip`.
 *
 * @param setTime sets the machine's clock, and the real-time clock of a board that has one, in seconds since 1970
 */
export const openEsp32 = (name: string, setTime = (seconds: number): void => Time.set(seconds)) => {
	startRadio();
	const network = openWiFi(setTime);
	return {
		...openChip(name, network.macAddress, setTime),
		network,
		accessPoint: openAccessPoint(network),
		// On the chip's USB pins.
		serials: esp32Usb.exists ? [{ io: UsbSerial, usb: esp32Usb, timer: Timer } as unknown as SerialRecord] : [],
	} satisfies Omit<Board, "close">;
};

/** Closes parts of a board, in this order. Those that were not opened are undefined. */
export const closeAll = (...parts: readonly ({ close(): void } | undefined)[]): void => {
	for (const part of parts) {
		part?.close();
	}
};

/** Starts the radio by `wifi`, which opens access points. A second start would end the machine. */
const startRadio = (): void => {
	WiFi.mode = WiFi.Mode.station;
};

/** The chip's own Wi-Fi network, for the set-up. */
const openAccessPoint = (network: WiFiNetwork): AccessPoint =>
	softAccessPoint({
		radio: {
			open({ ssid, password }) {
				// The SDK's typings lack `station`: the chip can still join a network.
				const options = { ssid, ...(password !== "" && { password }), station: true };
				WiFi.accessPoint(options);
			},
			close: startRadio,
		},
		network,
		udp: { io: UDP } as unknown as UdpRecord,
		address: ADDRESS,
		log: (message) => trace(`${message}\n`),
	});
