import type { AccessPoint, FoundNetwork, WiFiAccess } from "../../hardware/wifi-setup.js";
import { CaptiveDns, type CaptiveDnsOptions } from "./captive-dns.js";
import type { WiFiNetwork } from "./wifi-network.js";

interface SoftAccessPointOptions extends Pick<CaptiveDnsOptions, "udp" | "address" | "log"> {
	/** Opens and closes the radio's own network. */
	readonly radio: { open(access: WiFiAccess): void; close(): void };
	readonly network: Pick<WiFiNetwork, "pause" | "resume" | "scan" | "tryToJoin" | "rejoin">;
}

/** A board's own Wi-Fi network, beside the one that it joins, in which every name leads to the device. */
export class SoftAccessPoint implements AccessPoint {
	readonly address: string;
	readonly port = 80;
	private readonly options: SoftAccessPointOptions;
	private dns: CaptiveDns | undefined;

	constructor(options: SoftAccessPointOptions) {
		this.options = options;
		this.address = options.address;
	}

	/** @throws if the radio or the port for DNS cannot be opened; nothing is open then */
	open(access: WiFiAccess): void {
		const { radio, network, udp, address, log } = this.options;
		network.pause();
		try {
			radio.open(access);
			this.dns = new CaptiveDns({ udp, address, log });
		} catch (error) {
			this.close();
			throw error;
		}
	}

	close(): void {
		this.dns?.close();
		this.dns = undefined;
		this.options.radio.close();
		this.options.network.resume();
	}

	scan(): Promise<readonly FoundNetwork[]> {
		return this.options.network.scan();
	}

	join(access: WiFiAccess): Promise<boolean> {
		return this.options.network.tryToJoin(access);
	}

	rejoin(): Promise<boolean> {
		return this.options.network.rejoin();
	}
}
