import { hostnameOf } from "../../core/text/hostname.js";
import type { Network } from "../hardware.js";
import type { NtpClock } from "./ntp-clock.js";
import type { WiFiInterface } from "./wifi-network.js";

/** ECMA-419's Ethernet network interface. */
export interface EthernetInterface extends Pick<WiFiInterface, "connection" | "MAC" | "configure" | "close"> {
	connect(): void;
}

/** ECMA-419: the connection has an address. */
const HAS_ADDRESS = 500;

/** A network by cable. With a clock, it is online once the time is known or its server did not answer: TLS needs the time. */
export class EthernetNetwork implements Network {
	readonly type = "ethernet";
	readonly macAddress: string;
	onChange: (() => void) | undefined;
	private readonly interface: EthernetInterface;
	private readonly log: (message: string) => void;
	private readonly clock: Pick<NtpClock, "isSet" | "ask" | "close"> | undefined;
	private _online = false;

	constructor(
		{ io, ...record }: { readonly io: new (options: { onChanged: () => void }) => EthernetInterface },
		log: (message: string) => void,
		clock?: EthernetNetwork["clock"],
	) {
		this.log = log;
		this.clock = clock;
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
		this.clock?.close();
		this.interface.close();
	}

	private follow(): void {
		const hasAddress = this.interface.connection >= HAS_ADDRESS;
		if (!hasAddress || this.clock === undefined || this.clock.isSet) {
			this.update();
		}
		if (hasAddress) {
			this.clock?.ask(() => this.update());
		} else {
			this.clock?.close();
		}
	}

	private update(): void {
		const online = this.interface.connection >= HAS_ADDRESS;
		if (online !== this._online) {
			this._online = online;
			this.log(online ? "Ethernet: connected" : "Ethernet: lost");
			this.onChange?.();
		}
	}
}
