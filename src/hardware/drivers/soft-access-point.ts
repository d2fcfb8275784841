import type { UdpRecord } from "../../protocols/udp-socket.js";
import type { AccessPoint, WiFiAccess } from "../wifi-setup.js";
import { openCaptiveDns } from "./captive-dns.js";
import type { WiFiNetwork } from "./wifi-network.js";

interface SoftAccessPointOptions {
	/** Opens and closes the radio's own network. */
	readonly radio: { open(access: WiFiAccess): void; close(): void };
	readonly network: Pick<WiFiNetwork, "pause" | "resume" | "scan" | "tryToJoin" | "rejoin">;
	readonly udp: UdpRecord;
	/** The IPv4 address that every name gets. */
	readonly address: string;
	readonly log: (message: string) => void;
}

/** A board's own Wi-Fi network, beside the one that it joins, in which every name leads to the device. */
export const softAccessPoint = ({ radio, network, udp, address, log }: SoftAccessPointOptions): AccessPoint => {
	let dns: { close(): void } | undefined;
	const close = (): void => {
		dns?.close();
		dns = undefined;
		radio.close();
		network.resume();
	};
	return {
		address,
		port: 80,
		/** @throws if the radio or the port for DNS cannot be opened; nothing is open then */
		open(access) {
			network.pause();
			try {
				radio.open(access);
				dns = openCaptiveDns(udp, address, log);
			} catch (error) {
				close();
				throw error;
			}
		},
		close,
		scan: () => network.scan(),
		join: (access) => network.tryToJoin(access),
		rejoin: () => network.rejoin(),
	};
};
