import type { Feature } from "../../src/core/listener.js";
import { needsSafeMode } from "../../src/core/safe-mode.js";
import type { Installer } from "../../src/hardware/updater.js";
import { findTools } from "../../src/platform/tools.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { startOn } from "../doubles/started-application.js";
import { equal, given, matches, ok, outcomeOf, settled, suite } from "../harness.js";

const MAX_RESTARTS = 10;
const MINUTE = 60_000;
const SAFE_TIME = 900_000;

function starts(reasons: readonly string[], running = 1_000, settings = new FakeSettings()): boolean[] {
	return reasons.map((reset_reason) => {
		const timer = new FakeTimer();
		const board = new FakeBoard(settings);
		const isSafe = needsSafeMode({ ...board, system: { ...board.system, info: () => ({ reset_reason }) } }, timer);
		timer.pass(running);
		return isSafe;
	});
}

const crashes = (count: number, reason = "panic"): string[] => Array.from({ length: count }, () => reason);

/** A board that has restarted so often that its device starts in safe mode. */
function crashedBoard() {
	const board = new FakeBoard();
	board.settings.set("start", "starts", MAX_RESTARTS);
	const { info } = board.system;
	Object.assign(board.system, { info: () => ({ ...info(), reset_reason: "panic" }) });
	return board;
}

function startSafely() {
	const board = crashedBoard();
	return { ...startOn({ board, findTools }), board };
}

export default suite("safe mode", {
	"begins after ten restarts in a row, and ends with the next start"() {
		for (const reason of ["panic", "software", "task watchdog", "brownout"]) {
			const safe = starts(["power-on", ...crashes(MAX_RESTARTS + 2, reason)]);
			equal(safe.indexOf(true), MAX_RESTARTS + 1, reason);
			equal(safe.at(-1), false, reason);
		}
	},
	"does not begin for a device that runs for a minute after each start"() {
		ok(!starts(crashes(50), MINUTE).includes(true));
	},
	"does not begin because somebody switches the device off and on, or it wakes from deep sleep"() {
		for (const reason of ["power-on", "external pin", "deep sleep"]) {
			ok(!starts(crashes(50, reason)).includes(true), reason);
		}
		const settings = new FakeSettings();
		starts(crashes(MAX_RESTARTS), 1_000, settings);
		equal(starts(["power-on", "panic"], 1_000, settings), [false, false]);
	},
	"starts only features for rescue, as a setting that cannot be used does"() {
		for (const [options, expected] of [
			[{}, ["late", "early", "rescue"]],
			[{ board: crashedBoard() }, ["rescue"]],
			[{ built: { protocolVersion: 7 } }, ["late", "early", "rescue", "rescue"]],
		] as const) {
			const names: string[] = [];
			const feature = (name: string, more: Partial<Feature>): Feature => ({
				...more,
				name,
				start: () => void names.push(name),
			});
			const features = [
				feature("early", { after: ["late"] }),
				feature("late", {}),
				feature("rescue", { rescue: true }),
			];
			startOn({ ...options, features });
			equal(names, expected);
		}
	},
	"is said in the log, on the screen and in the system information": given(startSafely, ({ log, board, greet }) => {
		ok(log.some((line) => line.startsWith("safe mode: the device restarted again and again")));
		equal(board.shown.find(({ alert }) => alert?.status === "Safe mode")?.alert?.status, "Safe mode");
		const socket = greet();
		socket.arrive([
			'{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"self.get_system_info"}}}',
		]);
		matches(socket.messages.at(-1) ?? "", /safe_mode\\":true/);
	}),
	async "ends by a restart after a quarter of an hour, but not during an update"() {
		const { timer, board, greet, application } = startSafely();
		let fail: (error: Error) => void = () => {};
		board.installer.install = () =>
			new Promise((_resolve, reject) => {
				fail = reject;
			});
		greet();
		timer.pass(SAFE_TIME - 1);
		equal(board.restarts, []);
		const installed = outcomeOf((application.board.installer as Installer).install({ url: "http://h/f" }));
		timer.pass(1);
		equal(board.restarts, []);
		fail(new Error("no such firmware"));
		await settled();
		matches(installed.error ?? "", /no such firmware/);
		timer.pass(SAFE_TIME);
		equal(board.restarts.length, 1);
	},
});
