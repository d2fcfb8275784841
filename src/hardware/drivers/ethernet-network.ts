import { hostnameOf } from "../../core/text/hostname.js";
import type { Network } from "../hardware.js";
import type { WiFiInterface } from "./wifi-network.js";

/** ECMA-419's Ethernet network interface. */
export interface EthernetInterface extends Pick<WiFiInterface, "connection" | "MAC" | "configure" | "close"> {
	connect(): void;
}

/** ECMA-419: the connection has an address. */
const HAS_ADDRESS = 500;

/** A network by cable. It does not set the time: a backend over TLS needs a board with a clock. */
export class EthernetNetwork implements Network {
	readonly type = "ethernet";
	readonly macAddress: string;
	onChange: (() => void) | undefined;
	private readonly interface: EthernetInterface;
	private readonly log: (message: string) => void;
	private _online = false;

	constructor(
		{ io, ...record }: { readonly io: new (options: { onChanged: () => void }) => EthernetInterface },
		log: (message: string) => void,
	) {
		this.log = log;
		this.interface = new io({ ...record, onChanged: () => this.follow() });
		this.macAddress = (this.interface.MAC ?? "").toLowerCase();
		try {
			this.interface.configure({ hostname: hostnameOf(this.macAddress) });
		} catch (error) {
			log(`Ethernet: hostname not set: ${String(error)}`);
		}
		this.interface.connect();
	}

	get online(): boolean {
		return this._online;
	}

	close(): void {
		this.interface.close();
	}

	private follow(): void {
		const online = this.interface.connection >= HAS_ADDRESS;
		if (online !== this._online) {
			this._online = online;
			this.log(online ? "Ethernet: connected" : "Ethernet: lost");
			this.onChange?.();
		}
	}
}
