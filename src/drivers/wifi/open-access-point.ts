import UDP from "embedded:io/socket/udp";
import WiFi from "wifi";
import type { AccessPoint } from "../../hardware/wifi-setup.js";
import type { UdpRecord } from "./captive-dns.js";
import { SoftAccessPoint } from "./soft-access-point.js";
import type { WiFiNetwork } from "./wifi-network.js";

/** The address that ESP-IDF gives the chip in its own network. */
const ADDRESS = "192.168.4.1";

/**
 * Starts the radio, for the SDK's two Wi-Fi modules. Only `wifi` opens an access point, and it must start the radio
 * first: a second start ends the machine, and only the other module checks.
 */
export function startRadio(): void {
	WiFi.mode = WiFi.Mode.station;
}

/** The chip's own Wi-Fi network, for the set-up. */
export function openAccessPoint(network: WiFiNetwork): AccessPoint {
	return new SoftAccessPoint({
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
}
