import type { FoundGateway, SearchEvents } from "../../src/core/backend.js";
import { discoveryFeature, GatewaySearch, listGateways } from "../../src/features/discovery/gateway-search.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeDnsSd } from "../doubles/fake-dns-sd.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { startOn } from "../doubles/started-application.js";
import { equal, given, matches, suite } from "../harness.js";

function search(host = "", onFound: () => void = () => {}) {
	const network = new FakeDnsSd();
	const timer = new FakeTimer();
	const found: string[] = [];
	const failed: string[] = [];
	const missing: string[] = [];
	const log: string[] = [];
	const events: Pick<SearchEvents, "onBackend" | "onFailed" | "onMissing"> = {
		onBackend({ backend }) {
			found.push(backend);
			onFound();
		},
		onFailed: (error, retryIn) => failed.push(`${error.message}, ${retryIn}`),
		onMissing: (message) => missing.push(message),
	};
	const runtime = { timer, log: (line: string) => void log.push(line) };
	const gatewaySearch = new GatewaySearch(runtime, network.openDnsSd, host, events, () => 1 - Number.EPSILON);
	gatewaySearch.start();
	return { gatewaySearch, network, timer, found, failed, missing, log };
}

function startDevice(backend = "mdns:", openDnsSd = true) {
	const network = new FakeDnsSd();
	const board = new FakeBoard();
	const started = startOn({
		board,
		built: { backend, token: "secret" },
		features: [discoveryFeature(openDnsSd ? network.openDnsSd : undefined)],
	});
	return { ...started, network, board };
}

export default suite("a gateway that announces itself", {
	"is found by its service, at its path, and the search ends"() {
		for (const path of ["/", "/devices/1"]) {
			const { network, timer, found } = search();
			equal(network.serviceType, "_xs-mcp._tcp");
			network.find({ facts: { transport: "ws", path } });
			// The SDK still delivers received answers: the search stays open until then.
			equal([found, network.open], [[`ws://192.168.1.10:8765${path}`], 1]);
			timer.pass(0);
			equal([network.open, timer.size], [0, 0]);
		}
	},
	"is the first one that answers, unless the setting names a hostname": given(search, (any) => {
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
	}),
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
	"is searched for again at growing intervals that vary at random, as everything that is retried"() {
		const { gatewaySearch, network, timer, failed } = search();
		network.fault = "no memory";
		gatewaySearch.restart();
		for (const delay of [10_000, 20_000, 40_000, 80_000, 120_000]) {
			timer.pass(delay);
		}
		equal(
			failed,
			[10_000, 20_000, 40_000, 80_000, 120_000, 120_000].map((delay) => `no memory, ${delay}`),
		);
	},
	"is missed after ten seconds, once, and searched for on"() {
		const { gatewaySearch, network, timer, missing, found } = search();
		timer.pass(9_999);
		equal(missing, []);
		timer.pass(1);
		equal([missing, network.open], [["no gateway found on this network for 10 s"], 1]);
		gatewaySearch.restart();
		timer.pass(100_000);
		equal(missing.length, 1);
		network.find();
		timer.pass(0);
		equal([found.length, timer.size], [1, 0]);
		gatewaySearch.restart();
		timer.pass(10_000);
		equal(missing.length, 2);
	},
	"is missed by its name, also if each attempt to reach it begins the search anew"() {
		const { gatewaySearch, timer, missing } = search("attic");
		for (let seconds = 0; seconds < 10; seconds += 1) {
			timer.pass(1_000);
			gatewaySearch.restart();
		}
		equal(missing, ['no gateway "attic" found on this network for 10 s']);
		gatewaySearch.stop();
		equal(timer.size, 0);
	},
	async "is listed for a person to choose, each once, and only those that the device can connect to"() {
		const network = new FakeDnsSd();
		const timer = new FakeTimer();
		const ends: (readonly FoundGateway[])[] = [];
		const list = async () => ends.push(await listGateways({ timer, log() {} }, network.openDnsSd));
		void list();
		network.find();
		network.find({ address: "192.168.1.99" });
		network.find({ host: "xs-mcp-attic.local", name: "attic" });
		network.find({ host: "tls.local", facts: { transport: "wss" } });
		equal([ends, network.open], [[], 1]);
		await timer.passed(5_000);
		equal(ends, [
			[
				{ name: "xs-mcp gateway on workshop (ws)", backend: "mdns:xs-mcp-workshop" },
				{ name: "attic", backend: "mdns:xs-mcp-attic" },
			],
		]);
		equal([network.open, timer.size], [0, 0]);
		network.fault = "no memory";
		void list();
		await timer.passed(5_000);
		equal(ends[1], []);
	},
	"is wanted by a setting that begins with mdns:, by its name if that follows"() {
		const { network, application } = startDevice("mdns:xs-mcp-workshop");
		network.find({ host: "xs-mcp-attic.local" });
		equal(application.state, "activating");
		network.find();
		equal(application.state, "connecting");
	},
	"is missed on the screen and in the log of a device that finds none"() {
		const { timer, log, network, board } = startDevice();
		timer.pass(10_000);
		matches(log.join("\n"), /^gateway search goes on: no gateway found on this network for 10 s$/m);
		const alert = { status: "No backend", message: "no gateway found on this network for 10 s" };
		equal(board.shown.find((change) => change.alert !== undefined)?.alert, alert);
		equal(network.open, 1);
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
	"is not searched for while the device has a URL"() {
		equal(startDevice("ws://backend/").network.opened, 0);
	},
	"is a wrong setting where there is no multicast DNS"() {
		const { application, log } = startDevice("mdns:", false);
		equal(application.state, "fatal_error");
		matches(log.at(-1) ?? "", /^fatal error: backend: this build has no multicast DNS to find a gateway/);
	},
});
