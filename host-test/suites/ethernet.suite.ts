import { InterfaceNetwork, type NetworkClock } from "../../src/hardware/drivers/interface-network.js";
import { FakeWiFi } from "../doubles/fake-wifi.js";
import { equal, given, suite } from "../harness.js";

const SET = { isSet: true, ask() {}, close() {} };

function plugIn(clock: NetworkClock["clock"] = SET) {
	const log: string[] = [];
	const time = { clock, needsTime: true, log: (line: string) => log.push(line) };
	const network = new InterfaceNetwork("ethernet", "Ethernet", FakeWiFi, time);
	network.interface.connect();
	const changes: boolean[] = [];
	network.onChange = () => changes.push(network.online);
	return { network, ethernet: FakeWiFi.made.at(-1) as FakeWiFi, log, changes };
}

export default suite("Ethernet", {
	"asks for an address, and is offline until it has one": given(plugIn, ({ network, ethernet, changes }) => {
		equal([network.type, network.macAddress, ethernet.attempts.length], ["ethernet", "aa:bb:cc:00:11:22", 1]);
		ethernet.become(400);
		equal([network.online, changes], [false, []]);
		ethernet.become(500);
		equal([network.online, changes], [true, [true]]);
	}),
	"is offline when the cable is pulled, and online again with a new address"() {
		const { ethernet, changes, log } = plugIn();
		for (const connection of [500, 200, 400, 500, 500]) {
			ethernet.become(connection);
		}
		equal(changes, [true, false, true]);
		equal(log, ["Ethernet: connected", "Ethernet: lost", "Ethernet: connected"]);
	},
	"tells a DHCP server its name before it asks for an address, and goes on if it cannot"() {
		equal(plugIn().ethernet.configured, [{ hostname: "xs-mcp-001122", before: 0 }]);
		FakeWiFi.configureFault = new Error("not initialized");
		const { ethernet, log } = plugIn();
		FakeWiFi.configureFault = undefined;
		equal([ethernet.attempts.length, log], [1, ["Ethernet: hostname not set: Error: not initialized"]]);
	},
	"is online once its clock is set, or its time server has not answered"() {
		let isSet = false;
		const asked: (() => void)[] = [];
		const clock = {
			get isSet() {
				return isSet;
			},
			ask: (done: () => void) => void asked.push(done),
			close() {},
		};
		const { network, ethernet } = plugIn(clock);
		ethernet.become(500);
		equal([network.online, asked.length], [false, 1]);
		asked[0]?.();
		equal(network.online, true);
		isSet = true;
		ethernet.become(200);
		equal(network.online, false);
		ethernet.become(500);
		equal([network.online, asked.length], [true, 2]);
	},
});
