import type { NtpClock } from "../../src/hardware/drivers/ntp-clock.js";
import {
	type WiFiFound,
	type WiFiInterface,
	WiFiNetwork,
	type WiFiNetworkOptions,
} from "../../src/hardware/drivers/wifi-network.js";
import type { WiFiAccess } from "../../src/hardware/wifi-setup.js";
import type { UdpSocket } from "../../src/protocols/udp-socket.js";
import { FakeTimer } from "./fake-timer.js";

/** ECMA-419's Wi-Fi interface, and so much as Ethernet's has of it; the test plays the network. */
export class FakeWiFi implements WiFiInterface {
	static readonly made: FakeWiFi[] = [];
	/** Result of the first scan of an interface that is opened. */
	static firstFound: readonly WiFiFound[] | undefined = [];
	/** ECMA-419: 200 disconnected, 300 connecting, 400 connected, 500 with an address. */
	connection = 200;
	readonly MAC = "AA:BB:CC:00:11:22";
	SSID: string | undefined;
	RSSI: number | undefined;
	readonly attempts: object[] = [];
	readonly configured: object[] = [];
	static configureFault: Error | undefined;
	fault: Error | undefined;
	disconnects = 0;
	scans = 0;
	found = FakeWiFi.firstFound;
	onFound: (network: WiFiFound) => void = () => {};
	finishScan = (): void => {};
	readonly #onChanged: () => void;

	constructor(options: { onChanged: () => void }) {
		this.#onChanged = options.onChanged;
		FakeWiFi.made.push(this);
	}

	configure(options: object): void {
		if (FakeWiFi.configureFault !== undefined) {
			throw FakeWiFi.configureFault;
		}
		this.configured.push({ ...options, before: this.attempts.length });
	}

	connect(options: object = {}): void {
		this.attempts.push(options);
		if (this.fault !== undefined) {
			throw this.fault;
		}
		this.connection = 300;
	}

	disconnect(): void {
		this.disconnects += 1;
		this.connection = 200;
	}

	scan({ onFound, onComplete }: Parameters<WiFiInterface["scan"]>[0]): void {
		if (this.found === undefined) {
			throw new Error("already scanning");
		}
		this.scans += 1;
		for (const network of this.found) {
			onFound(network);
		}
		this.onFound = onFound;
		this.finishScan = onComplete;
	}

	become(connection: number): void {
		const { SSID } = (this.attempts.at(-1) ?? {}) as { SSID?: string };
		this.connection = connection;
		this.SSID = connection >= 400 ? SSID : undefined;
		this.RSSI = connection >= 400 ? -55 : undefined;
		this.#onChanged();
	}
}

type Datagram = NonNullable<ReturnType<UdpSocket["read"]>>;

class FakeClock implements Pick<NtpClock, "isSet" | "ask" | "close"> {
	isSet = false;
	closed = false;
	readonly asked: (() => void)[] = [];

	ask(done: () => void): void {
		this.asked.push(done);
	}

	close(): void {
		this.closed = true;
	}

	answer(isSet: boolean): void {
		this.isSet = isSet;
		this.asked.at(-1)?.();
	}
}

export function joinWiFi({
	ssid = "home",
	password = "secret",
	networks = undefined as readonly WiFiAccess[] | undefined,
	fixed = undefined as WiFiNetworkOptions["fixed"],
	isSet = true,
	needsTime = true,
	dnsFault = "",
} = {}) {
	const timer = new FakeTimer();
	const clock = new FakeClock();
	clock.isSet = isSet;
	const log: string[] = [];
	const dns: string[] = [];
	const radio: (WiFiAccess | "closed")[] = [];
	const sockets: boolean[] = [];
	/** A phone's queries to the device's DNS, which cannot be answered. */
	const queries = { waiting: [] as Datagram[], arrive: (): void => {} };
	class FakeUdp {
		readonly #index = sockets.push(true) - 1;

		constructor({ onReadable }: { onReadable: (count: number) => void }) {
			queries.arrive = () => onReadable(queries.waiting.length);
			if (dnsFault !== "") {
				throw new Error(dnsFault);
			}
		}
		read(): Datagram | undefined {
			return queries.waiting.shift();
		}
		write(): void {
			throw new Error("no memory");
		}
		close(): void {
			sockets[this.#index] = false;
		}
	}
	const network = new WiFiNetwork({
		wifi: FakeWiFi,
		radio: { open: (access) => radio.push(access), close: () => radio.push("closed") },
		udp: { io: FakeUdp },
		networks: networks ?? (ssid === "" ? [] : [{ ssid, password }]),
		fixed,
		setDns: (address) => dns.push(address),
		clock,
		needsTime,
		timer,
		log: (line) => log.push(line),
	});
	return { network, wifi: FakeWiFi.made.at(-1) as FakeWiFi, timer, clock, log, dns, radio, sockets, queries };
}
