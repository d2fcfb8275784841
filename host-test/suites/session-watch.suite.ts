import { SessionWatch } from "../../src/protocols/session-watch.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, suite } from "../harness.js";

const MINUTE = 60_000;

function watch(silenceTimeout: number) {
	const timer = new FakeTimer();
	const told: string[] = [];
	const events = { onLasted() {}, onQuiet: () => told.push("ping"), onSilent: () => told.push("silent") };
	const session = new SessionWatch(events, timer, silenceTimeout);
	return { timer, told, session };
}

export default suite("a session that is watched", {
	"is idle after a minute without a message, and no longer with the next"() {
		const { timer, session } = watch(0);
		timer.pass(MINUTE - 1);
		equal(session.isIdle, false);
		timer.pass(1);
		equal(session.isIdle, true);
		session.silentSteps = 0;
		equal(session.isIdle, true);
		session.quietSteps = 0;
		equal(session.isIdle, false);
		timer.pass(MINUTE - 1);
		equal(session.isIdle, false);
	},
	"pings a backend that is silent for half of the time-out, and ends after all of it"() {
		const { timer, told } = watch(2 * MINUTE);
		timer.pass(MINUTE - 1);
		equal(told, []);
		timer.pass(1);
		equal(told, ["ping"]);
		timer.pass(MINUTE);
		equal(told, ["ping"]);
		timer.pass(MINUTE / 2);
		equal(told, ["ping", "silent"]);
	},
	"takes any sign of life, but not a message that was only counted as use"() {
		const { timer, told, session } = watch(2 * MINUTE);
		timer.pass(MINUTE);
		session.silentSteps = 0;
		timer.pass(MINUTE - 1);
		equal(told, ["ping"]);
		session.quietSteps = 0;
		timer.pass(1);
		equal(told, ["ping", "ping"]);
	},
	"ends after a time-out that is as short as a poll, and does not ping before"() {
		const { timer, told } = watch(MINUTE / 2);
		timer.pass(MINUTE / 2);
		equal(told, []);
		timer.pass(MINUTE / 2);
		equal(told, ["silent"]);
	},
	"never pings or ends without a time-out, and stops with the session"() {
		const { timer, told, session } = watch(0);
		timer.pass(100 * MINUTE);
		equal(told, []);
		session.close();
		equal(timer.size, 0);
	},
});
