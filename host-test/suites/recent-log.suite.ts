import type { Host } from "../../src/core/application.js";
import log, { RecentLog } from "../../src/features/log.js";
import { ProtocolError } from "../../src/protocols/envelope.js";
import { FailingStore } from "../doubles/failing-store.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { start } from "../doubles/started-application.js";
import { equal, matches, ok, suite } from "../harness.js";

function logAt(now: number) {
	const clock = { now };
	const recent = new RecentLog(start(undefined, {}, undefined, { ticks: () => clock.now }).application);
	return { clock, recent };
}

function started(line: string) {
	const clock = { now: 1_000 };
	const device = start(undefined, {}, undefined, { features: [log], ticks: () => clock.now });
	const { application, mcp } = device;
	clock.now += 1_500;
	application.log(line);
	const add = (line: string): void => application.log(line);
	const sent = () => mcp().map(({ payload }) => payload as { method: string; params: { data: string } });
	const told = () =>
		sent()
			.flatMap(({ method, params }) => (method === "notifications/message" ? [params] : []))
			.filter(({ data }) => !/ (state|session) /.test(data));
	return { ...device, add, told };
}

export default suite("the latest lines of the device's log", {
	"begin with the seconds since the start, the oldest first"() {
		const { recent, clock } = logAt(4_294_960_000);
		clock.now = 5_049;
		recent.onLog("one");
		recent.onLog("two");
		equal(recent.lines, ["12.3 one", "12.3 two"]);
	},
	"are limited in number, length and characters"() {
		const { recent } = logAt(0);
		for (let count = 0; count < 100; count += 1) {
			recent.onLog(`line ${count}`);
		}
		equal([recent.lines.length, recent.lines.at(-1)], [24, "0.0 line 99"]);
		for (let count = 0; count < 100; count += 1) {
			recent.onLog("x".repeat(1_000));
		}
		equal(new Set(recent.lines.map(({ length }) => length)).size, 1);
		ok(recent.lines.join("").length <= 2_000);
	},
	"begin with those from before the device started, such as a part that could not be opened"() {
		let logOfBoard = (_line: string): void => {};
		const openBoard: Host["openBoard"] = ({ log }) => {
			logOfBoard = log;
			log("display not opened: Error: no answer");
			return new FakeBoard();
		};
		const { application } = start(undefined, {}, undefined, { features: [log], openBoard });
		equal(application.board.log?.lines[0], "0.0 display not opened: Error: no answer");
		logOfBoard("Wi-Fi: lost");
		equal(application.board.log?.lines.at(-1), "0.0 Wi-Fi: lost");
	},
	"have the reason why a setting could not be stored, and not its value"() {
		const store = new FailingStore();
		const openBoard: Host["openBoard"] = ({ source: { settings } }) => Object.assign(new FakeBoard(), { settings });
		const { application } = start(undefined, {}, undefined, { features: [log], store, openBoard });
		store.isBroken = true;
		application.board.settings?.set("xs-mcp", "password", "topsecret");
		const lines = application.board.log?.lines ?? [];
		ok(lines.includes("0.0 settings: xs-mcp/password could not be stored: Error: nvs set fail"), lines.join("\n"));
		ok(!lines.join("\n").includes("topsecret"));
	},
	"have the reason of a fatal error"() {
		const { application } = start(undefined, {}, undefined, { features: [log], built: { backend: "h" } });
		ok(application.board.log?.lines.some((line) => line.includes("fatal error: backend")));
	},
	"have their own time, although the device had not started yet"() {
		let now = 1_000;
		const openBoard: Host["openBoard"] = ({ log: logLine }) => {
			now = 3_000;
			logLine("display not opened");
			now = 8_000;
			return new FakeBoard();
		};
		const { application } = start(undefined, {}, undefined, { features: [log], openBoard, ticks: () => now });
		equal(application.board.log?.lines[0], "2.0 display not opened");
		matches(application.board.log?.lines[1] as string, /^7\.0 state/);
	},
	"hold no query of a URL, which may have a key"() {
		const { recent } = logAt(0);
		recent.onLog("firmware from http://h/a.bin?device=1&key=secret installed; ws://h/?token=t");
		equal(recent.lines, ["0.0 firmware from http://h/a.bin?… installed; ws://h/?…"]);
	},
	"are sent to the backend some seconds after a session began, each once"() {
		const { transport, add, told, timer } = started("early");
		transport.channel.events.onOpen();
		transport.channel.say({ type: "hello", transport: "fake", session_id: "s" });
		add("soon");
		equal(told(), []);
		timer.pass(5_000);
		const sent = (text: string) => ({ level: "debug", logger: "device", data: `1.5 ${text}` });
		equal(told(), [sent("early"), sent("soon")]);
		add("late");
		equal(told(), [sent("late")]);
		transport.channel.events.onClose(new ProtocolError("connection-closed", "gone"));
		add("outside a session");
		equal(told(), []);
	},
	"are not sent early in a session because the one before had two hellos"() {
		const { transport, add, told, timer } = started("early");
		transport.channel.greet();
		transport.channel.say({ type: "hello", transport: "fake", session_id: "s-2" });
		transport.channel.events.onClose(new ProtocolError("connection-closed", "gone"));
		timer.pass(5_000);
		transport.channel.greet();
		add("soon");
		equal(told(), []);
	},
	"cause no endless flood with a backend that answers each of them with an error"() {
		const { transport, told, timer } = started("early");
		transport.channel.greet();
		timer.pass(5_000);
		let count = 0;
		const answerAll = (): void => {
			for (let lines = told().length; lines > 0 && count < 1_000; lines = told().length) {
				count += lines;
				for (let line = 0; line < lines; line += 1) {
					transport.channel.say({ type: "mcp", payload: { jsonrpc: "2.0", id: null, error: { code: -32601 } } });
				}
			}
		};
		answerAll();
		ok(count <= 24, `${count} lines at once`);
		for (let seconds = 0; seconds < 60; seconds += 1) {
			timer.pass(1_000);
			answerAll();
		}
		ok(count <= 24 * 13, `${count} lines in a minute`);
	},
	"are sent in order if sending one makes another"() {
		const { transport, application, add, told, timer } = started("one");
		let count = 0;
		application.listen({
			onLog: () => {
				count += 1;
				if (count === 2) {
					add("about it");
				}
			},
		});
		transport.channel.greet();
		timer.pass(5_000);
		equal(
			told().map(({ data }) => data),
			["1.5 one", "1.5 about it"],
		);
	},
});
