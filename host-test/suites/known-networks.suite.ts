import { knownNetworks, preferFlashed, storeNetwork } from "../../src/core/known-networks.js";
import { checkSetting } from "../../src/core/read-setting.js";
import { FakeSettings } from "../doubles/fake-board.js";
import { equal, given, suite, throws } from "../harness.js";

function device() {
	const settings = new FakeSettings();
	const writes: string[] = [];
	const log: string[] = [];
	const set = settings.set.bind(settings);
	settings.set = (domain, key, value) => {
		writes.push(`${domain}/${key}`);
		return set(domain, key, value);
	};
	const start = (built: Readonly<Record<string, unknown>>): string[] => {
		preferFlashed({ built, settings }, (line) => log.push(line));
		return names(knownNetworks({ built, settings }));
	};
	const stored = (key: string) => settings.get("xs-mcp", key);
	return { settings, start, stored, writes, log };
}

const names = (networks: readonly { readonly ssid: string; readonly password: string }[]): string[] =>
	networks.map(({ ssid, password }) => `${ssid}:${password}`);

const HOME = { ssid: "home", password: "password of home" };

export default suite("known Wi-Fi networks", {
	"has the network of the setting ssid first, and each name once"() {
		const built = { ...HOME, networks: '[["office","12345678"],["home","other password"],["open",""]]' };
		equal(names(knownNetworks({ built, settings: undefined })), ["home:password of home", "office:12345678", "open:"]);
	},
	"works with a setting that cannot be used"() {
		equal(names(knownNetworks({ built: { ...HOME, networks: "office" }, settings: undefined })).length, 1);
		equal(knownNetworks({ built: {}, settings: undefined }), []);
	},
	"keeps the four networks before a new one, without the oldest": given(device, ({ settings }) => {
		const source = { built: {}, settings };
		for (const ssid of ["a", "b", "c", "d", "e", "f", "c"]) {
			storeNetwork({ ssid, password: "" }, source);
		}
		equal(names(knownNetworks(source)), ["c:", "f:", "e:", "d:", "b:"]);
	}),
	"accepts names and passwords of the length that the standard allows, and quotes none in an error"() {
		const accept = (list: unknown): unknown => checkSetting("networks", JSON.stringify(list));
		equal(accept([["n".repeat(32), "p".repeat(64)]]), [{ ssid: "n".repeat(32), password: "p".repeat(64) }]);
		for (const wrong of [
			[["n".repeat(33), ""]],
			[["", ""]],
			[["n", "secret1"]],
			[["n", "secret1".repeat(10)]],
			[["n"]],
			[["n", 12345678]],
			{ n: "secret12" },
			[1, 2, 3, 4, 5].map((each) => [String(each), "secret12"]),
		]) {
			throws(() => accept(wrong), /^networks: expected at most 4 networks as (?!.*secret)/);
		}
		throws(() => checkSetting("networks", "secret"), /^networks: expected (?!.*secret)/);
	},
	"lets a newly flashed network win over the stored one, which stays known"() {
		const { start, stored, settings } = device();
		equal(start({ ssid: "first", password: "" }), ["first:"]);
		storeNetwork(HOME, { built: { ssid: "first", password: "" }, settings });
		equal(start({ ssid: "first", password: "" }), ["home:password of home", "first:"]);
		equal(start({ ssid: "new", password: "87654321" }), ["new:87654321", "home:password of home", "first:"]);
		equal(stored("ssid"), undefined);
	},
	"keeps the stored network if the flashed one has not changed, or there is none"() {
		const { start, settings } = device();
		storeNetwork(HOME, { built: {}, settings });
		equal(start({}), ["home:password of home"]);
		equal(start({ backend: "ws://h/" }), ["home:password of home"]);
	},
	"lets a network win that is flashed again after an image without one": given(device, ({ start, settings }) => {
		start({ ssid: "lab" });
		start({});
		storeNetwork(HOME, { built: {}, settings });
		equal(start({ ssid: "lab" })[0], "lab:");
	}),
	"does not let the stored password belong to a newly flashed open network": given(device, ({ start, settings }) => {
		storeNetwork(HOME, { built: {}, settings });
		equal(start({ ssid: "open" })[0], "open:");
	}),
	"lets a newly flashed backend win, without the token and bootstrap of the stored one"() {
		const { start, stored, settings } = device();
		for (const [key, value] of Object.entries({ backend: "ws://a/", otaUrl: "http://a/", token: "t", name: "lamp" })) {
			settings.set("xs-mcp", key, value);
		}
		start({ backend: "ws://b/", token: "" });
		equal(["backend", "otaUrl", "token", "name"].map(stored), [undefined, undefined, undefined, "lamp"]);
	},
	"writes nothing at a start with the settings of the last one": given(device, ({ start, writes }) => {
		start({ ssid: "home" });
		equal(writes, ["board/flashed"]);
		start({ ssid: "home" });
		equal(writes.length, 1);
		equal(device().start({}), []);
	}),
	"keeps a stored backend in a build that only searches for one": given(device, ({ start, settings, stored }) => {
		settings.set("xs-mcp", "backend", "ws://chosen/");
		start({ backend: "mdns:" });
		equal(stored("backend"), "ws://chosen/");
		start({ backend: "ws://flashed/" });
		equal(stored("backend"), undefined);
	}),
	"forgets no stored setting if the store fails, and says so": given(device, ({ start, settings, stored, log }) => {
		storeNetwork(HOME, { built: {}, settings });
		const { get } = settings;
		for (const fail of ["set", "get"] as const) {
			settings[fail] = () => {
				throw new Error("nvs fail");
			};
			preferFlashed({ built: { ssid: "new" }, settings }, (line) => log.push(line));
		}
		settings.get = get;
		equal([stored("ssid"), log.length], ["home", 2]);
		settings.set = () => true;
		equal(start({ ssid: "new" })[0], "home:password of home");
	}),
	"reads a fixed address with its network, gateway and DNS server"() {
		equal(checkSetting("staticAddress", "192.168.1.50/24,192.168.1.1"), {
			address: "192.168.1.50",
			mask: "255.255.255.0",
			gateway: "192.168.1.1",
			dns: "192.168.1.1",
		});
		equal(checkSetting("staticAddress", "10.1.2.3/19, 10.1.0.1, 9.9.9.9"), {
			address: "10.1.2.3",
			mask: "255.255.224.0",
			gateway: "10.1.0.1",
			dns: "9.9.9.9",
		});
		for (const wrong of [
			"",
			"192.168.1.50",
			"192.168.1.50/24",
			"192.168.1.50/33,192.168.1.1",
			"192.168.1.256/24,192.168.1.1",
			"192.168.1.50/24,router",
			"192.168.1.50/24,192.168.1.1,9.9.9.9,8.8.8.8",
		]) {
			throws(() => checkSetting("staticAddress", wrong), /^staticAddress: expected ADDRESS\/BITS,GATEWAY/);
		}
	},
});
