import { FakeBoard } from "../doubles/fake-board.js";
import { startOn } from "../doubles/started-application.js";
import { equal, given, ok, suite } from "../harness.js";

const AFTER = 3_600_000;

function lose({ built = {}, wasReached = true, parts = {} } = {}) {
	const board = Object.assign(new FakeBoard(), parts);
	const started = startOn({ board, built });
	if (wasReached) {
		started.greet();
	}
	const follow = (online: boolean): void => {
		board.network.online = online;
		board.network.onChange?.();
	};
	follow(false);
	return { ...started, board, follow };
}

export default suite("a device that is offline for long", {
	"restarts after an hour, once": given(lose, ({ timer, board, log }) => {
		timer.pass(AFTER - 1);
		equal(board.restarts, []);
		timer.pass(1);
		ok(log.includes("offline for 3600 s: restarting"));
		timer.pass(10 * AFTER);
		equal(board.restarts.length, 1);
	}),
	"restarts after the time of the setting, or never"() {
		const early = lose({ built: { restartAfter: 60 } });
		early.timer.pass(60_000);
		equal(early.board.restarts.length, 1);
		const never = lose({ built: { restartAfter: 0 } });
		never.timer.pass(10 * AFTER);
		equal(never.board.restarts, []);
	},
	"does not restart when its session comes back": given(lose, ({ timer, board, follow, greet }) => {
		timer.pass(AFTER - 1);
		follow(true);
		greet();
		timer.pass(60_000);
		equal(board.restarts, []);
	}),
	"restarts when the network is there but its backend is not": given(lose, ({ timer, board, follow }) => {
		follow(true);
		timer.pass(AFTER);
		equal(board.restarts.length, 1);
	}),
	"does not restart if it was never reached since its start"() {
		const { timer, board } = lose({ wasReached: false });
		timer.pass(10 * AFTER);
		equal(board.restarts, []);
	},
	"needs only the network if its sessions are on demand"() {
		const { timer, board, follow } = lose({ built: { session: "on-demand" } });
		timer.pass(AFTER - 1);
		follow(true);
		timer.pass(10 * AFTER);
		equal(board.restarts, []);
	},
	"waits for a relay or a siren that is on"() {
		const part = { on: true, left: undefined, error: undefined, onChange: undefined, turn: () => {} };
		for (const parts of [{ switches: { part } }, { sirens: { part } }]) {
			part.on = true;
			const { timer, board } = lose({ parts });
			timer.pass(2 * AFTER);
			equal(board.restarts, []);
			part.on = false;
			timer.pass(AFTER);
			equal(board.restarts.length, 1);
		}
	},
});
