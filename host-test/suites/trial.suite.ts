import { FIRMWARE } from "../../src/core/firmware.js";
import { directFeature } from "../../src/features/direct/mcp-endpoint.js";
import { FakeBoard, FakeUpdater } from "../doubles/fake-board.js";
import { FakeHttpClient } from "../doubles/fake-http-client.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { startOn } from "../doubles/started-application.js";
import { equal, ok, settled, suite } from "../harness.js";

const TRIAL = 300_000;
const VERSION = FIRMWARE.version;

function start(
	isOnTrial: boolean,
	built: Readonly<Record<string, unknown>> = {},
	board = new FakeBoard(),
	updater = new FakeUpdater(),
) {
	updater.isOnTrial = isOnTrial;
	return { ...startOn({ board: Object.assign(board, { updater }), built }), updater, board };
}

const rolledBack = (version: string): FakeBoard => {
	const board = new FakeBoard();
	board.settings.set("update", "trial", version);
	return board;
};

export default suite("firmware on trial", {
	"is confirmed when it reaches a session, and not before, nor again in the next ones"() {
		const { updater, timer, log, board, greet } = start(true, {}, rolledBack(VERSION));
		ok(log.includes(`firmware ${VERSION} is on trial: it has 300 s to reach its backend`));
		equal(updater.events, []);
		greet();
		equal([updater.events, board.settings.get("update", "trial")], [["confirm"], undefined]);
		ok(log.includes(`firmware ${VERSION} is confirmed`));
		greet();
		timer.pass(TRIAL);
		equal(updater.events, ["confirm"]);
	},
	"goes back to the previous firmware if it does not reach a session in time"() {
		const { updater, timer, log, board } = start(true);
		timer.pass(TRIAL - 1);
		equal(updater.events, []);
		timer.pass(1);
		equal(updater.events, ["rollBack"]);
		const problem = `${VERSION} did not reach its backend in time; rolling back`;
		ok(log.includes(`update failed: ${problem}`));
		ok(board.shown.some(({ alert }) => alert?.status === "Update failed" && alert.message === problem));
	},
	"has as long as the setting says"() {
		const { updater, timer } = start(true, { updateTrial: 10 });
		timer.pass(10_000);
		equal(updater.events, ["rollBack"]);
	},
	"goes back at once if it cannot use a setting"() {
		const { application, updater, log } = start(true, { protocolVersion: 7 });
		equal([application.state, updater.events], ["fatal_error", ["rollBack"]]);
		ok(log.includes("update failed: protocolVersion: expected 1 or 2 or 3, got 7; rolling back"));
	},
	"goes on, and says why, if there is no firmware to go back to"() {
		const updater = Object.assign(new FakeUpdater(), {
			rollBack() {
				throw new Error("there is no firmware to go back to");
			},
		});
		const { application, log, board } = start(true, { protocolVersion: 7 }, new FakeBoard(), updater);
		equal(application.state, "fatal_error");
		ok(log.includes("rollback failed: Error: there is no firmware to go back to"));
		ok(board.shown.some(({ alert }) => alert?.status === "Invalid setting"));
	},
	"goes on in its session, and says why, if it cannot be confirmed"() {
		const updater = Object.assign(new FakeUpdater(), {
			confirm() {
				throw new Error("the firmware cannot be confirmed");
			},
		});
		const { application, log, greet } = start(true, {}, rolledBack(VERSION), updater);
		greet();
		equal(application.state, "idle");
		ok(log.includes(`could not confirm firmware ${VERSION}: Error: the firmware cannot be confirmed`));
	},
	"begins a session also if sessions are on demand"() {
		equal(start(false, { session: "on-demand" }).sockets(), []);
		const { updater, greet } = start(true, { session: "on-demand" });
		greet();
		equal(updater.events, ["confirm"]);
	},
	"is confirmed without a session on a device that has no backend, and serves clients"() {
		const updater = Object.assign(new FakeUpdater(), { isOnTrial: true });
		startOn({
			board: Object.assign(new FakeBoard(), { updater }),
			built: { backend: "", http: 80 },
			features: [directFeature(new FakeHttpPlatform("127.0.0.1"))],
		});
		equal(updater.events, ["confirm"]);
	},
	"is told of after it was rolled back, once"() {
		const { log, board } = start(false, {}, rolledBack("9.2.0"));
		const problem = `9.2.0 did not reach its backend; rolled back to ${VERSION}`;
		ok(log.includes(`update failed: ${problem}`));
		ok(board.shown.some(({ alert }) => alert?.message === problem));
		const next = start(false, {}, new FakeBoard(board.settings));
		ok(!next.log.some((line) => line.startsWith("update failed")));
	},
	async "is not installed again after it was rolled back, unless it has another version"() {
		const otaUrl = "http://ota/";
		const offer = async (version: string): Promise<string[]> => {
			const { log } = start(false, { otaUrl }, rolledBack("9.2.0"));
			await settled();
			const firmware = { version, url: "http://f.bin", force: 1 };
			FakeHttpClient.made.at(-1)?.answer(200, JSON.stringify({ websocket: { url: "ws://b/" }, firmware }));
			await settled();
			return log.filter((line) => line.startsWith("firmware 9."));
		};
		equal(await offer("9.2.0"), [
			"firmware 9.2.0 (forced) is available, but was rolled back; skipped until the next restart",
		]);
		equal(await offer("9.2.1"), ["firmware 9.2.1 (forced): installing from http://f.bin"]);
	},
	"does not exist on a board that cannot update itself"() {
		const { log } = startOn({ board: rolledBack("9.2.0") });
		ok(!log.some((line) => /trial|update/.test(line)));
	},
});
