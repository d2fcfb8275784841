import type { FoundNetwork } from "../../src/hardware/wifi-setup.js";
import { joinWiFi } from "../doubles/fake-wifi.js";
import { equal, given, matches, settled, suite, throws } from "../harness.js";

const JOIN_TIME = 25_000;
const WIFI_CHECK_INTERVAL = 5_000;

const OWN = { ssid: "xs-mcp-56789a", password: "password" };

function make({ ssid = "home", dnsFault = "" } = {}) {
	const joined = joinWiFi({ ssid, dnsFault, needsTime: false });
	return { ...joined, accessPoint: joined.network };
}

export default suite("the device's own Wi-Fi network", {
	"takes the device off its network, and joins none by itself while it is open"() {
		const { network, accessPoint, wifi, timer, radio, sockets } = make();
		wifi.become(500);
		accessPoint.open(OWN);
		equal([network.online, wifi.disconnects, radio, sockets], [false, 1, [OWN], [true]]);
		timer.pass(10 * WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, 1);
		accessPoint.close();
		equal([radio, sockets, wifi.attempts.length], [[OWN, "closed"], [false], 2]);
	},
	"logs once that it cannot answer the phone's DNS queries"() {
		const { accessPoint, queries, log } = make();
		accessPoint.open(OWN);
		const query = Uint8Array.of(0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1).buffer;
		for (let count = 0; count < 5; count += 1) {
			queries.waiting.push(Object.assign(query.slice(0), { address: "192.168.4.2", port: 5_353 }));
			queries.arrive();
		}
		equal(log.slice(1), ["Wi-Fi: DNS: could not answer: Error: no memory"]);
	},
	"forgets the first of many networks that it has logged"() {
		const { accessPoint, log } = make();
		accessPoint.open(OWN);
		for (let count = 0; count < 20; count += 1) {
			void accessPoint.join({ ssid: `network ${count}`, password: "" });
		}
		void accessPoint.join({ ssid: "network 0", password: "" });
		equal(log.filter((line) => line.includes('"network 0"')).length, 2);
	},
	async "tells that a network is joined, and stays with it"() {
		const { network, accessPoint, wifi, timer } = make({ ssid: "" });
		accessPoint.open(OWN);
		const joined = accessPoint.join({ ssid: "new", password: "" });
		equal(wifi.attempts, [{ SSID: "new" }]);
		wifi.become(400);
		timer.pass(2_000);
		wifi.become(500);
		timer.pass(1_000);
		equal([await joined, network.online], [true, true]);
		accessPoint.close();
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.at(-1), { SSID: "new" });
	},
	async "tries a network again for a while, tells that it could not be joined, and goes back to the old one"() {
		const { accessPoint, wifi, timer } = make();
		accessPoint.open(OWN);
		const joined = accessPoint.join({ ssid: "new", password: "wrong password" });
		wifi.become(200);
		timer.pass(1_000);
		equal(wifi.attempts.length, 3);
		wifi.fault = new Error("connect failed");
		wifi.become(200);
		timer.pass(JOIN_TIME);
		equal([await joined, wifi.connection], [false, 200]);
		wifi.fault = undefined;
		const before = wifi.attempts.length;
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, before);
		accessPoint.close();
		equal(wifi.attempts.at(-1), { SSID: "home", password: "secret" });
	},
	async "lists the networks that it finds, only so many, and tells open ones from others"() {
		const { accessPoint, wifi } = make();
		wifi.found = [
			{ SSID: "a", RSSI: -50, security: "wpa2_psk" },
			{ SSID: "b", RSSI: -60, security: "none" },
			...Array.from({ length: 100 }, (_, index) => ({ SSID: String(index), RSSI: -90 })),
		];
		const scan = accessPoint.scan();
		wifi.finishScan();
		const found = await scan;
		equal(found.slice(0, 2), [
			{ ssid: "a", rssi: -50, secured: true },
			{ ssid: "b", rssi: -60, secured: false },
		]);
		equal(found.length, 64);
	},
	async "joins no network before a scan in progress has ended, because each disturbs the other"() {
		const { accessPoint, wifi, timer } = make({ ssid: "" });
		wifi.found = [{ SSID: "new", RSSI: -50 }];
		accessPoint.open(OWN);
		const disconnects = wifi.disconnects;
		const scan = accessPoint.scan();
		const first = accessPoint.join({ ssid: "old", password: "" });
		const second = accessPoint.join({ ssid: "new", password: "" });
		await settled();
		timer.pass(2_000);
		equal([wifi.attempts, wifi.disconnects], [[], disconnects]);
		wifi.finishScan();
		equal((await scan).length, 1);
		timer.pass(1_000);
		equal([await first, wifi.attempts], [false, [{ SSID: "new" }]]);
		wifi.become(500);
		timer.pass(1_000);
		equal(await second, true);
	},
	"scans once for all who ask meanwhile, and anew for who asks later": given(make, async ({ accessPoint, wifi }) => {
		wifi.found = [{ SSID: "a", RSSI: -50 }];
		const scans = [accessPoint.scan(), accessPoint.scan()];
		equal(wifi.scans, 1);
		wifi.finishScan();
		const lengths = (await Promise.all(scans)).map((found) => found.length);
		equal(lengths, [1, 1]);
		void accessPoint.scan();
		equal(wifi.scans, 2);
	}),
	"rejoins no network by itself during a scan": given(make, async ({ accessPoint, wifi, timer }) => {
		const { length } = wifi.attempts;
		wifi.become(200);
		const scan = accessPoint.scan();
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, length);
		wifi.finishScan();
		await scan;
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, length + 1);
	}),
	"gives up a scan that throws or does not end": given(make, async ({ accessPoint, wifi, timer, log }) => {
		wifi.found = [{ SSID: "a", RSSI: -50 }];
		let found: readonly FoundNetwork[] = [];
		void accessPoint.scan().then((networks) => {
			found = networks;
		});
		await timer.passed(15_000);
		equal(found.length, 1);
		wifi.found = undefined;
		equal(await accessPoint.scan(), []);
		matches(log.at(-1) ?? "", /^Wi-Fi: scan failed: Error: already scanning$/);
	}),
	"is closed again if its DNS cannot be opened"() {
		const { accessPoint, radio, wifi } = make({ dnsFault: "bind failed" });
		throws(() => accessPoint.open(OWN), /bind failed/);
		equal([radio, wifi.attempts.length], [[OWN, "closed"], 2]);
	},
});
