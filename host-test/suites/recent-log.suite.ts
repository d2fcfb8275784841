import { RecentLog } from "../../src/log/recent-log.js";
import { ProtocolError } from "../../src/protocols/transport.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { start } from "../doubles/started-application.js";
import { equal, ok, suite } from "../harness.js";

function started(lines: readonly string[]) {
	let now = 1_000;
	const timer = new FakeTimer();
	const recent = new RecentLog(() => now, timer);
	now += 1_500;
	for (const line of lines) {
		recent.add(line);
	}
	const device = start(Object.assign(new FakeBoard(), { log: recent }));
	const sent = () => device.mcp().map(({ payload }) => payload as { method: string; params: { data: string } });
	const told = () => sent().flatMap(({ method, params }) => (method === "notifications/message" ? [params] : []));
	return { ...device, logTimer: timer, recent, told };
}

export default suite("the latest lines of the device's log", {
	"begin with the seconds since the start, the oldest first"() {
		let now = 4_294_960_000;
		const recent = new RecentLog(() => now, new FakeTimer());
		now = 5_049;
		recent.add("one");
		recent.add("two");
		equal(recent.lines, ["12.3 one", "12.3 two"]);
	},
	"are limited in number, length and characters"() {
		const recent = new RecentLog(() => 0, new FakeTimer());
		for (let count = 0; count < 100; count += 1) {
			recent.add(`line ${count}`);
		}
		equal([recent.lines.length, recent.lines.at(-1)], [24, "0.0 line 99"]);
		for (let count = 0; count < 100; count += 1) {
			recent.add("x".repeat(1_000));
		}
		equal(new Set(recent.lines.map(({ length }) => length)).size, 1);
		ok(recent.lines.join("").length <= 2_000);
	},
	"hold no query of a URL, which may have a key"() {
		const recent = new RecentLog(() => 0, new FakeTimer());
		recent.add("firmware from http://h/a.bin?device=1&key=secret installed; ws://h/?token=t");
		equal(recent.lines, ["0.0 firmware from http://h/a.bin?… installed; ws://h/?…"]);
	},
	"are sent to the backend some seconds after a session began, each once"() {
		const { transport, recent, told, logTimer } = started(["early"]);
		transport.channel.events.onOpen();
		transport.channel.say({ type: "hello", transport: "fake", session_id: "s" });
		recent.add("soon");
		equal(told(), []);
		logTimer.pass(5_000);
		const sent = (text: string) => ({ level: "debug", logger: "device", data: `1.5 ${text}` });
		equal(told(), [sent("early"), sent("soon")]);
		recent.add("late");
		equal(told(), [sent("late")]);
		transport.channel.events.onClose(new ProtocolError("connection-closed", "gone"));
		recent.add("outside a session");
		equal([told(), logTimer.size], [[], 0]);
	},
	"are sent in order if sending one makes another"() {
		const timer = new FakeTimer();
		const recent = new RecentLog(() => 0, timer);
		const sent: string[] = [];
		recent.send = (line) => {
			sent.push(line);
			if (sent.length < 3) {
				recent.add(`about line ${sent.length}`);
			}
		};
		recent.sessionBegan();
		timer.pass(5_000);
		recent.add("one");
		equal(sent, ["0.0 one", "0.0 about line 1", "0.0 about line 2"]);
	},
});
