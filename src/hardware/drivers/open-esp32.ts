import UDP from "embedded:io/socket/udp";
import WiFiInterface from "embedded:network/interface/wifi";
import NTPClient from "embedded:network/ntp/client";
import Timer from "timer";
import WiFi from "wifi";
import { knownNetworks } from "../../core/known-networks.js";
import { settingText } from "../../core/read-setting.js";
import { parseStaticAddress } from "../../core/wifi-settings.js";
import { SystemResolver } from "../../platform/system-resolver.js";
import type { UdpRecord } from "../../protocols/udp-socket.js";
import type { OpeningBoard } from "../board-data.js";
import type { Board, SerialRecord } from "../hardware.js";
import { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS } from "./esp32-models.js";
import { esp32Usb } from "./esp32-usb.js";
import type { NetworkClock } from "./interface-network.js";
import { NtpClock, type NtpRecord } from "./ntp-clock.js";
import { openChip } from "./open-chip.js";
import { UsbSerial } from "./usb-serial.js";
import { WiFiNetwork, type WiFiNetworkOptions } from "./wifi-network.js";

/** Opens a clock that the server of the setting `ntp` sets. */
export const openClock = ({ setTime, source, log }: OpeningBoard): NetworkClock => {
	const servers = [settingText("ntp", source)];
	const ntp = { io: NTPClient, servers, dns: { io: SystemResolver }, socket: { io: UDP } } as unknown as NtpRecord;
	return {
		clock: new NtpClock({ ntp, setTime, now: () => Date.now(), timer: Timer, log }),
		needsTime: /^(wss|mqtts|https):/i.test(settingText("otaUrl", source) || settingText("backend", source)),
		log,
	};
};

/** Starts the radio by `wifi`, which opens access points. A second start would end the machine. */
const startRadio = (): void => {
	WiFi.mode = WiFi.Mode.station;
};

/**
 * The parts of every ESP32 board with Wi-Fi: Wi-Fi, the chip's own network for the set-up, its USB port, and those of `openChip`.
 * Builds leave out the SDK's `setup/network`, which joins the Wi-Fi only once.
 */
export const openEsp32 = (name: string, opening: OpeningBoard) => {
	startRadio();
	const { source } = opening;
	const address = parseStaticAddress(settingText("staticAddress", source));
	const network = new WiFiNetwork({
		wifi: WiFiInterface as WiFiNetworkOptions["wifi"],
		udp: { io: UDP } as unknown as UdpRecord,
		radio: {
			open({ ssid, password }) {
				// The SDK's typings lack `station`: the chip can still join a network.
				const options = { ssid, ...(password !== "" && { password }), station: true };
				WiFi.accessPoint(options);
			},
			close: startRadio,
		},
		networks: knownNetworks(source),
		fixed: address && { ssid: settingText("ssid", source), address },
		setDns: esp32Chip.setDns,
		...openClock(opening),
		timer: Timer,
	});
	return {
		...openChip(name, network.macAddress, opening),
		network,
		accessPoint: network,
		// On the chip's USB pins.
		serials: ESP32_MODELS[esp32Chip.numbers.model]?.hasUsb
			? [{ io: UsbSerial, usb: esp32Usb, timer: Timer } as unknown as SerialRecord]
			: [],
	} satisfies Board;
};
