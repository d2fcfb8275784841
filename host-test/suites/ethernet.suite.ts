import { type EthernetInterface, EthernetNetwork } from "../../src/drivers/ethernet/ethernet-network.js";
import { equal, suite } from "../harness.js";

/** ECMA-419's Ethernet interface; the test plugs the cable in and out. */
class FakeEthernet implements EthernetInterface {
	static readonly made: FakeEthernet[] = [];
	/** ECMA-419: 200 disconnected, 300 connecting, 400 connected, 500 with an address. */
	connection = 200;
	readonly MAC = "AA:BB:CC:00:11:22";
	attempts = 0;
	readonly configured: object[] = [];
	static configureFault: Error | undefined;
	closed = false;
	readonly #onChanged: () => void;

	constructor(options: { onChanged: () => void }) {
		this.#onChanged = options.onChanged;
		FakeEthernet.made.push(this);
	}

	configure(options: object): void {
		if (FakeEthernet.configureFault !== undefined) {
			throw FakeEthernet.configureFault;
		}
		this.configured.push({ ...options, before: this.attempts });
	}

	connect(): void {
		this.attempts += 1;
	}

	close(): void {
		this.closed = true;
	}

	become(connection: number): void {
		this.connection = connection;
		this.#onChanged();
	}
}

function plugIn() {
	const log: string[] = [];
	const network = new EthernetNetwork({
		ethernet: { io: FakeEthernet },
		hostname: (macAddress) => `name-${macAddress.slice(-2)}`,
		log: (line) => log.push(line),
	});
	const changes: boolean[] = [];
	network.onChange = () => changes.push(network.online);
	return { network, ethernet: FakeEthernet.made.at(-1) as FakeEthernet, log, changes };
}

export default suite("Ethernet", {
	"asks for an address, and is offline until it has one"() {
		const { network, ethernet, changes } = plugIn();
		equal([network.type, network.macAddress, ethernet.attempts], ["ethernet", "aa:bb:cc:00:11:22", 1]);
		ethernet.become(400);
		equal([network.online, changes], [false, []]);
		ethernet.become(500);
		equal([network.online, changes], [true, [true]]);
	},
	"is offline when the cable is pulled, and online again with a new address"() {
		const { ethernet, changes, log } = plugIn();
		for (const connection of [500, 200, 400, 500, 500]) {
			ethernet.become(connection);
		}
		equal(changes, [true, false, true]);
		equal(log, ["Ethernet: connected", "Ethernet: lost", "Ethernet: connected"]);
	},
	"tells a DHCP server its name before it asks for an address, and goes on if it cannot"() {
		equal(plugIn().ethernet.configured, [{ hostname: "name-22", before: 0 }]);
		FakeEthernet.configureFault = new Error("not initialized");
		const { ethernet, log } = plugIn();
		FakeEthernet.configureFault = undefined;
		equal([ethernet.attempts, log], [1, ["Ethernet: hostname not set: Error: not initialized"]]);
	},
	"closes its interface"() {
		const { network, ethernet } = plugIn();
		network.close();
		equal(ethernet.closed, true);
	},
});
