import { startFirmware } from "../../src/app/start-firmware.js";
import { openSetup } from "../../src/setup/open-setup.js";
import type { PhoneSetup } from "../../src/setup/phone-setup.js";
import { ADDONS } from "../doubles/addons.js";
import { settled } from "../doubles/client.js";
import { FakeAccessPoint } from "../doubles/fake-access-point.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeMqttClient, FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

/** The firmware as `main.ts` starts it, with these settings. */
function startWith(settings: Readonly<Record<string, unknown>>, board = new FakeBoard()) {
	const log: string[] = [];
	const timer = new FakeTimer();
	const start = () =>
		startFirmware({
			board,
			built: { backend: "ws://h/", ...settings },
			openNetwork: () => ({ ws: { io: FakeWebSocketClient }, mqtt: { io: FakeMqttClient } }),
			...ADDONS,
			timer,
			log: (line) => log.push(line),
		});
	return { board, log, timer, start };
}

/** The same on a board that can be set up with a phone, and what a person does there. */
function startWithSetup(settings: Readonly<Record<string, unknown>>, { screen = true, joined = "" } = {}) {
	const log: string[] = [];
	const timer = new FakeTimer();
	const fake = new FakeBoard();
	const accessPoint = new FakeAccessPoint();
	const platform = new FakeHttpPlatform();
	const { screen: _screen, ...rest } = fake;
	const board = { ...(screen ? fake : rest), accessPoint, close() {} };
	if (joined !== "") {
		fake.settings.set("wifi", "joined", joined);
	}
	let opened: PhoneSetup | undefined;
	const application = startFirmware({
		board,
		built: { ssid: "home", backend: "ws://h/", ...settings },
		openNetwork: () => ({ ws: { io: FakeWebSocketClient } }),
		...ADDONS,
		setup: (options) => {
			const setup = openSetup(platform, options);
			return (
				setup &&
				((events) => {
					opened = setup(events);
					return opened;
				})
			);
		},
		timer,
		log: (line) => log.push(line),
	});
	/** Sends the form, as the page does. */
	const submit = async (values: object): Promise<string> => {
		const ask = async (method: string, headers: Record<string, string>, body = ""): Promise<string> => {
			const connection = platform.connect();
			const length = body === "" ? {} : { "content-length": String(ArrayBuffer.fromString(body).byteLength) };
			connection.begin({ host: accessPoint.address, ...length, ...headers }, method, "/settings");
			if (body !== "") {
				connection.arrive(body);
			}
			connection.end();
			await settled();
			connection.grant();
			return connection.sent;
		};
		const { formToken } = JSON.parse(await ask("GET", {}));
		const headers = { "x-form-token": formToken, origin: `http://${accessPoint.address}` };
		return ask("POST", headers, JSON.stringify(values));
	};
	return { application, fake, accessPoint, timer, log, submit, opened: () => opened };
}

export default suite("a setting that cannot be used", {
	"lets the device have the name of the setting, and otherwise the board's"() {
		equal(
			[{ name: "Kitchen" }, { name: "" }, {}].map((settings) => startWith(settings).start()?.server.name),
			["Kitchen", "fake", "fake"],
		);
	},
	"lets the device start if every setting can be used"() {
		const { board, start } = startWith({});
		equal(start()?.state, "connecting");
		ok(!board.shown.some(({ state }) => state === "fatal_error"));
	},
	"is named in the log and on the screen, in the state fatal_error"() {
		for (const [settings, problem] of [
			[{ backend: "nonsense" }, /^backend: expected scheme:/],
			[{ backend: "http://h" }, /^backend: this device does not support http:/],
			[{ protocolVersion: 7 }, /^protocolVersion: expected 1 or 2 or 3, got 7$/],
			[{ token: "a\r\nb" }, /^token: expected text without line breaks$/],
			[{ backend: "mqtt://h", publishTopic: "a/#" }, /^publishTopic: /],
			[{ backend: "mqtt://h", mqttPassword: "p" }, /^mqttUsername: /],
			[{ otaUrl: "ws://h/" }, /^otaUrl: expected http:/],
			[{ otaUrl: "http://h/", protocolVersion: 7 }, /^protocolVersion: /],
		] as const) {
			const { board, log, start } = startWith(settings);
			equal(start(), undefined);
			const shown = Object.assign({}, ...board.shown);
			equal([shown.state, shown.alert.status], ["fatal_error", "Invalid setting"]);
			matches(shown.alert.message, problem);
			equal(log, [`fatal error: ${shown.alert.message}`]);
		}
	},
	"does not restart the device, and leaves the board open"() {
		const { board, timer, start } = startWith({ keepAlive: "soon" });
		start();
		timer.pass(1_000_000);
		equal([board.restarts, board.closed, timer.size], [[], false, 0]);
	},
	"opens the set-up by phone, which shows its network beside the error"() {
		const { application, fake, accessPoint, opened } = startWithSetup({ backend: "nonsense" });
		equal([application, opened()?.isOpen, accessPoint.opened?.ssid], [undefined, true, "xs-mcp-000001"]);
		const shown = Object.assign({}, ...fake.shown);
		equal([shown.state, shown.alert.status, shown.setup.ssid], ["fatal_error", "Invalid setting", "xs-mcp-000001"]);
	},
	"is corrected on the set-up's page, after which the device restarts"() {
		return (async () => {
			const { fake, accessPoint, timer, submit } = startWithSetup({ backend: "nonsense", password: "12345678" });
			matches(await submit({ ssid: "home", backend: "worse" }), /expected scheme/);
			await submit({ ssid: "home", backend: "ws://right/" });
			accessPoint.finish(true);
			await settled();
			equal(fake.settings.get("xs-mcp", "backend"), "ws://right/");
			equal(fake.restarts, []);
			timer.pass(10_000);
			equal(fake.restarts, [1000]);
		})();
	},
	"has the set-up opened again later if nobody came"() {
		const { fake, timer, opened } = startWithSetup({ backend: "nonsense" });
		timer.pass(300_000);
		equal(opened()?.isOpen, false);
		timer.pass(180_000);
		equal([opened()?.isOpen, fake.restarts], [true, []]);
	},
	"opens no network without a password on a device whose network worked, and none if the set-up may not begin by itself"() {
		equal(startWithSetup({ backend: "nonsense" }, { screen: false, joined: "home" }).accessPoint.opened, undefined);
		equal(startWithSetup({ backend: "nonsense" }, { screen: false }).accessPoint.opened?.password, "");
		equal(startWithSetup({ backend: "nonsense", setupAfter: 0 }).accessPoint.opened, undefined);
	},
	"that is the set-up's own is named, and the set-up not opened"() {
		const { accessPoint, log } = startWithSetup({ setupPassword: "short" });
		equal(accessPoint.opened, undefined);
		equal(log, [
			"fatal error: setupPassword: expected 8 to 63 printable ASCII characters, or none",
			"set-up: could not open: SettingError: setupPassword: expected 8 to 63 printable ASCII characters, or none",
		]);
	},
	"is named in the log of a board without a screen"() {
		const log: string[] = [];
		startFirmware({
			board: { name: "bare", system: new FakeBoard().system, close() {} },
			built: { backend: 5 },
			openNetwork: () => ({}),
			...ADDONS,
			timer: new FakeTimer(),
			log: (line) => log.push(line),
		});
		matches(log.join(), /^fatal error: backend: expected a string, got 5$/);
	},
	"is not what any other error is taken for"() {
		const board = Object.assign(new FakeBoard(), {
			system: {
				get macAddress(): string {
					throw new TypeError("no radio");
				},
			},
		});
		throws(startWith({}, board as unknown as FakeBoard).start, /no radio/);
	},
});
