import type { Network } from "../../hardware/hardware.js";
import type { WiFiInterface, WiFiNetworkOptions } from "../wifi/wifi-network.js";

/** ECMA-419's Ethernet network interface, as far as it is used. */
export interface EthernetInterface extends Pick<WiFiInterface, "connection" | "MAC" | "configure" | "close"> {
	connect(): void;
}

interface EthernetRecord {
	readonly io: new (options: { onChanged: () => void }) => EthernetInterface;
}

interface EthernetNetworkOptions extends Pick<WiFiNetworkOptions, "hostname" | "log"> {
	readonly ethernet: EthernetRecord;
}

/** ECMA-419: the connection has an address. */
const HAS_ADDRESS = 500;

/**
 * A network by cable. The interface requests an address whenever a cable is plugged in. The time is not set here: for a
 * backend over TLS, whose certificates have dates, a board needs a clock that knows it.
 */
export class EthernetNetwork implements Network {
	readonly type = "ethernet";
	readonly macAddress: string;
	onChange: (() => void) | undefined;
	readonly #interface: EthernetInterface;
	readonly #log: (message: string) => void;
	#online = false;

	constructor({ ethernet: { io, ...record }, hostname, log }: EthernetNetworkOptions) {
		this.#log = log;
		this.#interface = new io({ ...record, onChanged: () => this.#follow() });
		this.macAddress = (this.#interface.MAC ?? "").toLowerCase();
		try {
			this.#interface.configure({ hostname: hostname(this.macAddress) });
		} catch (error) {
			log(`Ethernet: hostname not set: ${String(error)}`);
		}
		this.#interface.connect();
	}

	get online(): boolean {
		return this.#online;
	}

	close(): void {
		this.#interface.close();
	}

	#follow(): void {
		const online = this.#interface.connection >= HAS_ADDRESS;
		if (online !== this.#online) {
			this.#online = online;
			this.#log(online ? "Ethernet: connected" : "Ethernet: lost");
			this.onChange?.();
		}
	}
}
