import { hostnameOf } from "../../core/text/hostname.js";
import type { StaticAddress } from "../../core/wifi-settings.js";
import type { Network } from "../hardware.js";
import type { NtpClock } from "./ntp-clock.js";

/** ECMA-419's network interface. Unknown values are undefined. */
export interface NetworkInterface {
	/** At least 500 when there is an address. */
	readonly connection: number;
	readonly MAC: string | undefined;
	/** The option `hostname` is sent to the DHCP server. `static` is a fixed address, or false for one by DHCP. */
	configure(options: { hostname: string } | { static: StaticAddress | false }): void;
}

export interface NetworkClock {
	/** Queried for the time as soon as there is an address: TLS needs it, because certificates have dates. */
	readonly clock: Pick<NtpClock, "isSet" | "ask" | "close">;
	/** Whether the backend needs TLS, and so the time: the network is online only after the clock has answered. */
	readonly needsTime: boolean;
	readonly log: (message: string) => void;
}

/** ECMA-419's state of a connection that has an address. */
const HAS_ADDRESS = 500;

/** Maximum number of remembered lines: the set-up may try any number of networks. */
const MAX_LOGGED = 16;

/** A network of ECMA-419, with a clock that it sets. */
export class InterfaceNetwork<Interface extends NetworkInterface> implements Network {
	readonly type: Network["type"];
	readonly macAddress: string;
	readonly interface: Interface;
	onChange: (() => void) | undefined;
	private readonly title: string;
	private readonly time: NetworkClock;
	private _online = false;
	private asked = false;
	/** The latest lines since the last change. An attempt that is repeated repeats its lines. */
	private logged: string[] = [];

	/** @param title names it in the log */
	constructor(
		type: Network["type"],
		title: string,
		Class: new (options: { onChanged: () => void }) => Interface,
		time: NetworkClock,
	) {
		this.type = type;
		this.title = title;
		this.time = time;
		this.interface = new Class({ onChanged: () => this.follow() });
		this.macAddress = (this.interface.MAC ?? "").toLowerCase();
		this.configure("hostname", { hostname: hostnameOf(this.macAddress) });
	}

	get online(): boolean {
		return this._online;
	}

	get hasAddress(): boolean {
		return this.interface.connection >= HAS_ADDRESS;
	}

	/** Describes the connection for the log. */
	protected describe(): string {
		return "connected";
	}

	/** Logs a line once, until the network is joined or lost. */
	protected log(message: string): void {
		if (!this.logged.includes(message)) {
			this.logged = [...this.logged, message].slice(-MAX_LOGGED);
			this.time.log(`${this.title}: ${message}`);
		}
	}

	/** A network without the device's name or address is better than none. */
	protected configure(what: string, options: Parameters<NetworkInterface["configure"]>[0]): void {
		try {
			this.interface.configure(options);
		} catch (error) {
			this.log(`${what} not set: ${String(error)}`);
		}
	}

	/** Follows the interface after a change. */
	protected follow(): void {
		const { clock, needsTime } = this.time;
		if (!this.hasAddress) {
			if (this.asked) {
				// The SDK's NTP client repeats its request, and throws in a timer's callback without a network.
				this.asked = false;
				clock.close();
			}
			this.tell(false);
			return;
		}
		if (clock.isSet || !needsTime) {
			this.tell(true);
		}
		if (!this.asked) {
			this.asked = true;
			clock.ask(() => this.tell(this.hasAddress));
		}
	}

	private tell(online: boolean): void {
		if (online !== this._online) {
			this._online = online;
			this.logged = [];
			this.log(online ? this.describe() : "lost");
			this.onChange?.();
		}
	}
}
