import { setupFeature } from "../../src/features/setup/phone-setup.js";
import type { Button } from "../../src/hardware/kinds/button.js";
import { FakeAccessPoint } from "../doubles/fake-access-point.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { browserOf } from "../doubles/open-setup.js";
import { startOn } from "../doubles/started-application.js";
import { equal, matches, ok, settled, suite, throws } from "../harness.js";

function startWith(built: Readonly<Record<string, unknown>>) {
	const board = new FakeBoard();
	return { ...startOn({ board, built }), board };
}

function startWithSetup(built: Readonly<Record<string, unknown>>, { screen = true } = {}) {
	const fake = new FakeBoard();
	const accessPoint = new FakeAccessPoint();
	const platform = new FakeHttpPlatform();
	const { screen: _screen, ...rest } = fake;
	const boot: Button = { onPress: undefined };
	const board = { ...(screen ? fake : rest), accessPoint, bootButton: () => boot };
	const started = startOn({ board, built: { ssid: "home", ...built }, features: [setupFeature(platform)] });
	return { ...started, fake, boot, accessPoint, platform, ...browserOf(platform) };
}

export default suite("a setting that cannot be used", {
	"lets the device have the name of the setting, and otherwise the board's"() {
		const names = [{ name: "Kitchen" }, { name: "" }, {}].map(
			(settings) => startWith(settings).application.server.name,
		);
		equal(names, ["Kitchen", "fake", "fake"]);
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
			const { board, log, application } = startWith(settings);
			equal(application.state, "fatal_error");
			const shown = Object.assign({}, ...board.shown);
			equal([shown.state, shown.alert.status], ["fatal_error", "Invalid setting"]);
			matches(shown.alert.message, problem);
			equal(log, ["state unknown -> fatal_error", `fatal error: ${shown.alert.message}`]);
		}
	},
	"is named in the log if no setting has its name, and the device starts"() {
		const { log, application } = startWith({ pasword: "b", keepalive: "60", screen: "st7789", led: {}, tls: {} });
		equal(log[0], "unknown settings: pasword, keepalive");
		equal(application.state, "connecting");
	},
	"does not restart the device"() {
		const { board, timer } = startWith({ keepAlive: "soon" });
		timer.pass(1_000_000);
		equal([board.restarts, timer.size], [[], 0]);
	},
	"opens the set-up by phone, which shows its network beside the error"() {
		const { application, fake, accessPoint, platform } = startWithSetup({ backend: "nonsense" });
		equal([application.state, platform.isOpen, accessPoint.opened?.ssid], ["fatal_error", true, "xs-mcp-000001"]);
		const shown = Object.assign({}, ...fake.shown);
		equal([shown.state, shown.alert.status, shown.setup.ssid], ["fatal_error", "Invalid setting", "xs-mcp-000001"]);
	},
	async "is corrected on the set-up's page, after which the device restarts"() {
		const { fake, accessPoint, timer, submit } = startWithSetup({ backend: "nonsense", password: "12345678" });
		matches(JSON.stringify(await submit({ ssid: "home", backend: "worse" })), /expected scheme/);
		await submit({ ssid: "home", backend: "ws://right/" });
		accessPoint.finish(true);
		await settled();
		equal(fake.settings.get("xs-mcp", "backend"), "ws://right/");
		equal(fake.restarts, []);
		timer.pass(10_000);
		equal(fake.restarts, [1000]);
	},
	"has the set-up opened again later if nobody came"() {
		const { fake, timer, platform } = startWithSetup({ backend: "nonsense" });
		timer.pass(300_000);
		equal(platform.isOpen, false);
		timer.pass(180_000);
		equal([platform.isOpen, fake.restarts], [true, []]);
	},
	"opens a network also on a device without a screen, and none if the set-up may not begin by itself"() {
		equal(startWithSetup({ backend: "nonsense" }, { screen: false }).accessPoint.opened?.password, "");
		equal(startWithSetup({ backend: "nonsense", setupAfter: 0 }).accessPoint.opened, undefined);
	},
	"lets a person begin the set-up with the BOOT button"() {
		const { boot, accessPoint } = startWithSetup({ backend: "nonsense", setupAfter: 0 });
		boot.onRelease?.(5_000);
		equal(accessPoint.opened?.ssid, "xs-mcp-000001");
		boot.onRelease?.(5_000);
		ok(accessPoint.opened !== undefined);
	},
	"that is the set-up's own is named, and the set-up not opened"() {
		const { accessPoint, log } = startWithSetup({ setupPassword: "short" });
		equal(accessPoint.opened, undefined);
		equal(log, [
			"state unknown -> fatal_error",
			"setup: could not start: SettingError: setupPassword: expected 8 to 63 printable ASCII characters, or none",
			"fatal error: setupPassword: expected 8 to 63 printable ASCII characters, or none",
		]);
	},
	"is named in the log of a board without a screen"() {
		const board = { name: "bare", system: new FakeBoard().system };
		const { log } = startOn({ board, built: { backend: 5 } });
		matches(log.at(-1) ?? "", /^fatal error: backend: expected a string, got 5$/);
	},
	"is not what any other error is taken for"() {
		const board = Object.assign(new FakeBoard(), {
			system: {
				info: () => ({}),
				get macAddress(): string {
					throw new TypeError("no radio");
				},
			},
		});
		throws(() => startOn({ board }), /no radio/);
	},
});
