import { startFirmware } from "../../src/app/start-firmware.js";
import type { DnsSd, FoundService } from "../../src/connect/dns-sd.js";
import { GatewaySearch } from "../../src/connect/gateway-search.js";
import { readBackend } from "../../src/settings/backend-setting.js";
import { ADDONS } from "../doubles/addons.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, matches, suite } from "../harness.js";

/** DNS-SD on a network that a test plays. */
class FakeDnsSd {
	/** Searches that are open. */
	open = 0;
	opened = 0;
	serviceType = "";
	/** Why the next one cannot be opened. */
	fault: string | undefined;
	#onFound: ((service: FoundService) => void) | undefined;

	readonly openDnsSd = (): DnsSd => {
		if (this.fault !== undefined) {
			throw new Error(this.fault);
		}
		this.open += 1;
		this.opened += 1;
		return {
			discover: ({ serviceType, onFound }) => {
				this.serviceType = serviceType;
				this.#onFound = onFound;
				return {};
			},
			close: () => {
				this.open -= 1;
			},
		};
	};

	/** A service answers. */
	find(change: Partial<FoundService> & { readonly facts?: object } = {}): void {
		const { facts = { transport: "ws", path: "/", version: "0.1.0" }, ...service } = change;
		this.#onFound?.({
			name: "xs-mcp gateway on workshop (ws)",
			host: "xs-mcp-workshop.local",
			address: "192.168.1.10",
			port: 8765,
			txt: new Map(Object.entries(facts)),
			...service,
		});
	}
}

function search(host = "", onFound: () => void = () => {}) {
	const network = new FakeDnsSd();
	const timer = new FakeTimer();
	const found: string[] = [];
	const failed: string[] = [];
	const log: string[] = [];
	const gatewaySearch = new GatewaySearch({
		host,
		openDnsSd: network.openDnsSd,
		onBackend: ({ backend }) => {
			found.push(backend);
			onFound();
		},
		onFailed: (error, retryIn) => failed.push(`${error.message}, ${retryIn}`),
		timer,
		log: (line) => log.push(line),
	});
	gatewaySearch.start();
	return { gatewaySearch, network, timer, found, failed, log };
}

/** A device whose backend is to be found. */
function startDevice(backend = "mdns:", openDnsSd = true) {
	const network = new FakeDnsSd();
	const timer = new FakeTimer();
	const log: string[] = [];
	const before = FakeWebSocketClient.made.length;
	const application = startFirmware({
		board: new FakeBoard(),
		built: { backend, token: "secret" },
		openNetwork: () => ({ ws: { io: FakeWebSocketClient } }),
		...(openDnsSd && {
			discovery: (options) => new GatewaySearch({ ...options, openDnsSd: network.openDnsSd }),
		}),
		...ADDONS,
		timer,
		log: (line) => log.push(line),
	});
	return { application, network, timer, log, sockets: () => FakeWebSocketClient.made.slice(before) };
}

export default suite("a gateway that announces itself", {
	"is found by its service, and the search ends"() {
		const { network, timer, found } = search();
		equal(network.serviceType, "_xs-mcp._tcp");
		network.find();
		// The SDK goes on with what it has received: the search is open until that is over.
		equal([found, network.open], [["ws://192.168.1.10:8765/"], 1]);
		timer.pass(0);
		equal([network.open, timer.size], [0, 0]);
	},

	"may have another path"() {
		const { network, found } = search();
		network.find({ facts: { transport: "ws", path: "/devices/1" } });
		equal(found, ["ws://192.168.1.10:8765/devices/1"]);
	},

	"is the first one that answers, unless the setting names a hostname"() {
		const any = search();
		any.network.find();
		any.network.find({ host: "xs-mcp-attic.local", address: "192.168.1.11" });
		equal(any.found, ["ws://192.168.1.10:8765/"]);
		for (const host of ["xs-mcp-attic", "xs-mcp-ATTIC.local"]) {
			const named = search(host);
			named.network.find();
			equal(named.found, []);
			named.network.find({ host: "xs-mcp-attic.local.", address: "192.168.1.11" });
			equal(named.found, ["ws://192.168.1.11:8765/"]);
		}
	},

	"is left out if the device cannot connect to it, or what it says makes no URL"() {
		const { network, timer, found, log } = search();
		network.find({ facts: { transport: "wss", path: "/" } });
		network.find({ facts: { transport: "mqtt" } });
		network.find({ facts: {} });
		network.find({ facts: { transport: "ws", path: "@evil/" } });
		network.find({ facts: { transport: "ws", path: `/${"x".repeat(128)}` } });
		network.find({ facts: { transport: "ws", path: "/a b" } });
		network.find({ address: "evil/" });
		network.find({ port: 0 });
		timer.pass(0);
		equal([found, log.length, network.open], [[], 8, 1]);
	},

	"is searched for anew when it is lost: its address may have changed"() {
		const { gatewaySearch, network, timer, found } = search();
		network.find();
		timer.pass(0);
		gatewaySearch.restart();
		gatewaySearch.restart();
		equal([network.open, network.opened], [1, 3]);
		network.find({ address: "192.168.1.99" });
		equal(found.at(-1), "ws://192.168.1.99:8765/");
	},

	"is searched for on if connecting to it fails at once"() {
		const { gatewaySearch, network, timer, found } = search("", () => gatewaySearch.restart());
		network.find();
		timer.pass(0);
		equal([found.length, network.open], [1, 1]);
	},

	"is searched for again later if the search cannot be opened"() {
		const { gatewaySearch, network, timer, failed } = search();
		network.fault = "no memory";
		gatewaySearch.restart();
		equal(failed, ["no memory, 10000"]);
		network.fault = undefined;
		timer.pass(9_999);
		equal(network.open, 0);
		timer.pass(1);
		equal([network.open, failed.length], [1, 1]);
		gatewaySearch.stop();
		equal([network.open, timer.size], [0, 0]);
	},

	"is wanted by a setting that begins with mdns:"() {
		const needs = { mayLackBackend: true, findsGateways: true };
		const wanted = (backend: unknown): string | undefined =>
			readBackend({ built: { backend }, settings: undefined }, "mac", needs).gateway;
		equal(["mdns:", "mdns:xs-mcp-attic"].map(wanted), ["", "xs-mcp-attic"]);
		equal(["ws://mdns:1/", "", undefined].map(wanted), [undefined, undefined, undefined]);
	},

	"is connected to by a device, which is activating until then"() {
		const { application, network, log, sockets } = startDevice();
		equal([application?.state, sockets().length], ["activating", 0]);
		network.find();
		equal([application?.state, sockets().length], ["connecting", 1]);
		matches(log.join("\n"), /^gateway search: the backend is ws:\/\/192\.168\.1\.10:8765\/$/m);
	},

	"is searched for anew by a device that has lost it, and may have moved"() {
		const { network, timer, sockets } = startDevice();
		network.find();
		timer.pass(0);
		equal(network.open, 0);
		sockets().at(-1)?.options.onError?.(new Error("refused"));
		equal(network.open, 1);
		network.find({ address: "192.168.1.99" });
		equal(sockets().at(-1)?.options.host, "192.168.1.99");
	},

	"is not searched for while the device has a URL, and stops with it"() {
		equal(startDevice("ws://backend/").network.opened, 0);
		const { application, network, timer } = startDevice();
		application?.stop();
		equal([network.open, timer.size], [0, 0]);
	},

	"is a wrong setting where there is no multicast DNS"() {
		const { application, log } = startDevice("mdns:", false);
		equal(application, undefined);
		matches(log.at(-1) ?? "", /^fatal error: backend: this platform has no multicast DNS/);
	},
});
