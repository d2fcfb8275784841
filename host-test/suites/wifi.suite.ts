import { NtpClock } from "../../src/hardware/drivers/ntp-clock.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { FakeWiFi, joinWiFi } from "../doubles/fake-wifi.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

const NTP_INTERVAL = 86_400_000;
const NTP_RETRY_INTERVAL = 60_000;
const WIFI_CHECK_INTERVAL = 5_000;

function join(options?: Parameters<typeof joinWiFi>[0]) {
	const joined = joinWiFi(options);
	const changes: boolean[] = [];
	joined.network.onChange = () => changes.push(joined.network.online);
	return { ...joined, changes };
}

function joinSeveral({ canScan = true } = {}) {
	FakeWiFi.firstFound = canScan ? [] : undefined;
	const joined = join({
		networks: [
			{ ssid: "weak", password: "password of weak" },
			{ ssid: "strong", password: "password of strong" },
			{ ssid: "hidden", password: "" },
		],
	});
	FakeWiFi.firstFound = [];
	const finishScan = async (...networks: (readonly [SSID: string, RSSI: number])[]): Promise<void> => {
		for (const [SSID, RSSI] of networks) {
			joined.wifi.onFound({ SSID, RSSI });
		}
		joined.wifi.finishScan();
		await settled();
	};
	return { ...joined, finishScan };
}

function askTime(now = 0, failure?: Error) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const machine = { now, done: 0 };
	const clients: { answer: (error: Error | null, time?: number) => void; closed: boolean }[] = [];
	class FakeNtp {
		readonly #entry = { answer: (): void => {}, closed: false };

		constructor() {
			clients.push(this.#entry);
			if (failure !== undefined) {
				throw failure;
			}
		}

		getTime(callback: (error: Error | null, time?: number) => void): void {
			Object.assign(this.#entry, { answer: callback });
		}

		close(): void {
			this.#entry.closed = true;
		}
	}
	const clock = new NtpClock({
		ntp: { io: FakeNtp },
		setTime: (seconds) => {
			machine.now = seconds * 1000;
		},
		now: () => machine.now,
		timer,
		log: (line) => log.push(line),
	});
	const ask = (): void => {
		clock.ask(() => {
			machine.done += 1;
		});
	};
	return { clock, ask, machine, clients, timer, log };
}

const TIME = Date.UTC(2026, 10, 21);

export default suite("Wi-Fi and the time", {
	"joins the access point of the settings": given(join, ({ wifi, network }) => {
		equal(wifi.attempts, [{ SSID: "home", password: "secret" }]);
		equal([network.online, network.macAddress], [false, "aa:bb:cc:00:11:22"]);
	}),
	"joins an open network without a password"() {
		equal(join({ password: "" }).wifi.attempts, [{ SSID: "home" }]);
	},
	"asks the time server again after a minute when no socket can be opened"() {
		const { ask, machine, clients, timer, log } = askTime(0, new Error("no socket"));
		ask();
		timer.pass(NTP_RETRY_INTERVAL);
		equal([clients.length, machine.done], [2, 1]);
		matches(log[0] ?? "", /no answer from the time server/);
	},
	"says so when there is no name to join, and joins nothing"() {
		const { wifi, log, timer } = join({ ssid: "" });
		timer.pass(60_000);
		equal(wifi.attempts, []);
		matches(log[0] ?? "", /"ssid" is empty/);
	},
	"is online once it has an address": given(join, ({ wifi, network, changes }) => {
		wifi.become(400);
		equal(network.online, false);
		wifi.become(500);
		equal([network.online, network.ssid, network.rssi, changes], [true, "home", -55, [true]]);
	}),
	"notices an address that nobody told of": given(join, ({ wifi, network, timer }) => {
		wifi.connection = 500;
		timer.pass(WIFI_CHECK_INTERVAL);
		ok(network.online);
	}),
	"joins again when it was lost": given(join, ({ wifi, network, timer, changes }) => {
		wifi.become(500);
		wifi.become(200);
		equal([network.online, network.rssi, changes], [false, -100, [true, false]]);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, 2);
		wifi.become(500);
		equal(changes, [true, false, true]);
	}),
	async "joins the strongest of several known networks, and the next one if that fails"() {
		const { wifi, timer, finishScan } = joinSeveral();
		equal(wifi.attempts, []);
		await finishScan(["weak", -80], ["strange", -30], ["strong", -50], ["strong", -90]);
		equal(wifi.attempts, [{ SSID: "strong", password: "password of strong" }]);
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.at(-1), { SSID: "weak", password: "password of weak" });
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.at(-1), { SSID: "hidden" });
	},
	async "scans again once every known network has failed, or one that was joined is lost"() {
		const { wifi, timer, finishScan } = joinSeveral();
		await finishScan(["weak", -80]);
		for (let attempt = 0; attempt < 3; attempt += 1) {
			wifi.become(200);
			timer.pass(WIFI_CHECK_INTERVAL);
		}
		equal([wifi.attempts.length, wifi.scans], [3, 2]);
		await finishScan(["strong", -50]);
		wifi.become(500);
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.scans, 3);
		await finishScan(["weak", -50]);
		equal(wifi.attempts.at(-1), { SSID: "weak", password: "password of weak" });
	},
	async "tries known networks in their order if no scan is possible"() {
		const { wifi } = joinSeveral({ canScan: false });
		await settled();
		equal(wifi.attempts, [{ SSID: "weak", password: "password of weak" }]);
	},
	"joins nothing after a scan during which the set-up was opened": given(
		joinSeveral,
		async ({ wifi, network, finishScan }) => {
			network.open({ ssid: "own", password: "" });
			await finishScan(["strong", -50]);
			equal(wifi.attempts, []);
		},
	),
	async "tries the known networks in range while the set-up is open, and gives up for the one that a person chose"() {
		const { network, wifi, timer, finishScan } = joinSeveral();
		await finishScan();
		network.open({ ssid: "own", password: "" });
		const first = network.rejoin();
		await finishScan(["weak", -80], ["strong", -50]);
		equal(wifi.attempts.at(-1), { SSID: "strong", password: "password of strong" });
		const chosen = network.join({ ssid: "new", password: "" });
		equal(await first, false);
		wifi.become(500);
		timer.pass(1_000);
		equal([await chosen, wifi.attempts.at(-1)], [true, { SSID: "new" }]);
		wifi.become(200);
		const second = network.rejoin();
		await finishScan(["weak", -80]);
		wifi.become(500);
		timer.pass(1_000);
		equal([await second, network.ssid], [true, "weak"]);
	},
	async "ends the attempt at known networks for a scan of the set-up's page"() {
		const { network, wifi, timer, finishScan } = joinSeveral();
		await finishScan();
		network.open({ ssid: "own", password: "" });
		const { size } = timer;
		const tried = network.rejoin();
		await finishScan(["weak", -80], ["strong", -50]);
		const attempts = wifi.attempts.length;
		const found = network.scan();
		equal([await tried, wifi.connection], [false, 200]);
		await finishScan(["weak", -80]);
		equal([(await found).length, wifi.attempts.length, timer.size], [1, attempts, size]);
	},
	"has a fixed address with its DNS server in the network that it is for, and DHCP in others"() {
		const address = { address: "10.0.0.5", mask: "255.0.0.0", gateway: "10.0.0.1", dns: "9.9.9.9" };
		const { wifi, dns, network } = join({ fixed: { ssid: "home", address } });
		equal([wifi.configured[1], dns, wifi.attempts.length], [{ static: address, before: 0 }, ["9.9.9.9"], 1]);
		void network.join({ ssid: "other", password: "" });
		equal([wifi.configured[2], dns.length], [{ static: false, before: 1 }, 1]);
		equal(join().wifi.configured.length, 1);
	},
	async "does not go back to its network while it tries another one, and so does not take that for joined"() {
		const { network, wifi, timer } = join();
		wifi.become(500);
		const tried = network.join({ ssid: "new", password: "wrong" });
		for (let second = 0; second < 25; second += 1) {
			const { SSID } = wifi.attempts.at(-1) as { SSID: string };
			wifi.become(SSID === "home" ? 500 : 200);
			timer.pass(1_000);
		}
		equal(await tried, false);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.at(-1), { SSID: "home", password: "secret" });
	},
	"gives an attempt up for another one": given(join, async ({ network, wifi, timer }) => {
		const { size } = timer;
		const first = network.join({ ssid: "first", password: "" });
		const second = network.join({ ssid: "second", password: "" });
		wifi.become(500);
		timer.pass(1_000);
		equal([await first, await second, timer.size], [false, true, size]);
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.at(-1), { SSID: "second" });
	}),
	"tries again after an attempt that throws": given(join, ({ wifi, timer, log }) => {
		wifi.fault = new Error("already connecting");
		wifi.become(200);
		timer.pass(WIFI_CHECK_INTERVAL);
		matches(log.at(-1) ?? "", /could not join "home": Error: already connecting/);
		wifi.fault = undefined;
		timer.pass(WIFI_CHECK_INTERVAL);
		equal([wifi.attempts.length, wifi.connection], [3, 300]);
	}),
	"logs once that it joins a network, until that is joined or lost": given(join, ({ wifi, timer, log }) => {
		const fail = (): void => {
			for (let attempt = 0; attempt < 10; attempt += 1) {
				wifi.become(200);
				timer.pass(WIFI_CHECK_INTERVAL);
			}
		};
		const joining = 'Wi-Fi: joining "home"';
		fail();
		equal(log, [joining]);
		wifi.fault = new Error("busy");
		fail();
		equal(log.slice(1), ['Wi-Fi: could not join "home": Error: busy']);
		wifi.fault = undefined;
		timer.pass(WIFI_CHECK_INTERVAL);
		wifi.become(500);
		wifi.become(200);
		fail();
		equal(log.slice(2), ['Wi-Fi: "home" joined', "Wi-Fi: lost", joining]);
	}),
	"gives up an attempt that comes to nothing in half a minute, and begins another": given(join, ({ wifi, timer }) => {
		timer.pass(6 * WIFI_CHECK_INTERVAL);
		equal([wifi.disconnects, wifi.attempts.length], [1, 1]);
		timer.pass(WIFI_CHECK_INTERVAL);
		equal(wifi.attempts.length, 2);
	}),
	"is online only once it has asked for the time, or that was not told: not all backends need a certificate"() {
		for (const isTold of [true, false]) {
			const { wifi, network, clock } = join({ isSet: false });
			wifi.become(500);
			equal([network.online, clock.asked.length], [false, 1]);
			wifi.become(500);
			equal(clock.asked.length, 1);
			clock.answer(isTold);
			ok(network.online);
		}
	},
	"is online at once if a chip has told the time, and asks a time server all the same"() {
		const { wifi, network, clock } = join();
		wifi.become(500);
		equal([network.online, clock.asked.length], [true, 1]);
		clock.answer(true);
		wifi.become(500);
		equal([network.online, clock.asked.length], [true, 1]);
	},
	"tells a DHCP server its name before it joins, and joins if it cannot"() {
		equal(join().wifi.configured, [{ hostname: "xs-mcp-001122", before: 0 }]);
		FakeWiFi.configureFault = new Error("not initialized");
		const { wifi, log } = join();
		FakeWiFi.configureFault = undefined;
		equal(
			[wifi.attempts.length, log],
			[1, ["Wi-Fi: hostname not set: Error: not initialized", 'Wi-Fi: joining "home"']],
		);
	},
	"does not wait for the time if the backend is reached without TLS, but asks for it"() {
		const { wifi, network, clock, changes } = join({ isSet: false, needsTime: false });
		wifi.become(500);
		equal([network.online, clock.asked.length], [true, 1]);
		clock.answer(false);
		equal(changes, [true]);
	},
	"stays offline if the network was lost before the clock answers"() {
		const { wifi, clock, changes } = join({ isSet: false, needsTime: false });
		wifi.become(500);
		wifi.become(200);
		clock.answer(true);
		equal(changes, [true, false]);
	},
	"asks for the time no more once the network is lost, because a datagram without a network ends the machine"() {
		const { wifi, network, clock, changes } = join({ isSet: false });
		wifi.become(500);
		equal([clock.asked.length, clock.closed], [1, false]);
		wifi.become(200);
		equal(clock.closed, true);
		clock.answer(true);
		equal([network.online, changes], [false, []]);
		wifi.become(500);
		equal(clock.asked.length, 2);
	},
	"sets the machine's clock by the time server": given(askTime, ({ clock, ask, machine, clients, log }) => {
		equal(clock.isSet, false);
		ask();
		clients[0]?.answer(null, TIME);
		equal([machine, clock.isSet, clients[0]?.closed], [{ now: TIME, done: 1 }, true, true]);
		matches(log[0] ?? "", /2026-11-21T00:00:00/);
	}),
	"takes a clock that was set before for set"() {
		const { clock, ask, clients, log } = askTime(TIME);
		equal(clock.isSet, true);
		ask();
		clients[0]?.answer(new Error());
		equal(log, ["clock: no answer from the time server"]);
	},
	"asks again each day, because a chip's clock drifts": given(askTime, ({ ask, machine, clients, timer }) => {
		ask();
		for (let day = 1; day <= 3; day += 1) {
			equal(clients.length, day);
			clients[day - 1]?.answer(null, TIME + day * 1000);
			equal(machine, { now: TIME + day * 1000, done: 1 });
			timer.pass(NTP_INTERVAL - 1);
			equal(clients.length, day);
			timer.pass(1);
		}
		clients[3]?.answer(new Error());
		timer.pass(NTP_RETRY_INTERVAL);
		equal(clients.length, 5);
	}),
	"says that nobody told the time, and asks again by itself"() {
		const { ask, machine, clients, timer, log } = askTime();
		ask();
		clients[0]?.answer(new Error());
		equal(machine.done, 1);
		matches(log[0] ?? "", /certificates cannot be checked/);
		timer.pass(NTP_RETRY_INTERVAL);
		clients[1]?.answer(null, TIME);
		equal([machine, clients.map(({ closed }) => closed)], [{ now: TIME, done: 1 }, [true, true]]);
	},
	"logs once that nobody told the time, until somebody does": given(askTime, ({ ask, clients, timer, log }) => {
		ask();
		for (let attempt = 0; attempt < 5; attempt += 1) {
			clients[attempt]?.answer(new Error());
			timer.pass(NTP_RETRY_INTERVAL);
		}
		equal(log.length, 1);
		clients[5]?.answer(null, TIME);
		timer.pass(NTP_INTERVAL);
		clients[6]?.answer(new Error());
		equal(log.slice(2), ["clock: no answer from the time server"]);
	}),
	"ignores a server that answers after it was closed": given(askTime, ({ clock, ask, machine, clients, timer }) => {
		ask();
		clock.close();
		clients[0]?.answer(null, TIME);
		equal([machine, timer.size], [{ now: 0, done: 0 }, 0]);
	}),
});
