import { startFirmware } from "../../src/app/start-firmware.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeMqttClient, FakeWebSocketClient } from "../doubles/fake-clients.js";
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
			hmacSha256: async () => new ArrayBuffer(0),
			timer,
			log: (line) => log.push(line),
		});
	return { board, log, timer, start };
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
			[{ backend: "http://h" }, /^backend: http:\/\/ is not/],
			[{ qos: 7 }, /^qos: expected 0 or 1, got 7$/],
			[{ token: "a\r\nb" }, /^token: expected text without line breaks$/],
			[{ backend: "mqtt://h", publishTopic: "a/#" }, /^publishTopic: /],
			[{ backend: "mqtt://h", mqttPassword: "p" }, /^mqttUsername: /],
			[{ otaUrl: "ws://h/" }, /^otaUrl: expected http:/],
			[{ otaUrl: "http://h/", qos: 7 }, /^qos: /],
		] as const) {
			const { board, log, start } = startWith(settings);
			equal(start(), undefined);
			const shown = Object.assign({}, ...board.shown);
			equal([shown.state, shown.alert.status], ["fatal_error", "Wrong setting"]);
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
	"is named in the log of a board without a screen"() {
		const log: string[] = [];
		startFirmware({
			board: { name: "bare", system: new FakeBoard().system, close() {} },
			built: { backend: 5 },
			openNetwork: () => ({}),
			hmacSha256: async () => new ArrayBuffer(0),
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
