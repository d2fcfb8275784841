import type { AccessPoint, WiFiAccess } from "../../wifi-setup.js";
import { CaptiveDns, type CaptiveDnsOptions } from "./captive-dns.js";
import type { WiFiNetwork } from "./wifi-network.js";

interface SoftAccessPointOptions extends CaptiveDnsOptions {
	/** Opens and closes the radio's own network. */
	readonly radio: { open(access: WiFiAccess): void; close(): void };
	readonly network: Pick<WiFiNetwork, "pause" | "resume" | "scan" | "tryToJoin" | "rejoin">;
}

/** A board's own Wi-Fi network, beside the one that it joins, in which every name leads to the device. */
export const softAccessPoint = ({ radio, network, ...options }: SoftAccessPointOptions): AccessPoint => {
	let dns: CaptiveDns | undefined;
	const close = (): void => {
		dns?.close();
		dns = undefined;
		radio.close();
		network.resume();
	};
	return {
		address: options.address,
		port: 80,
		/** @throws if the radio or the port for DNS cannot be opened; nothing is open then */
		open(access) {
			network.pause();
			try {
				radio.open(access);
				dns = new CaptiveDns(options);
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
