import { Application } from "../../src/core/application.js";
import type { DeviceState } from "../../src/core/listener.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, suite } from "../harness.js";

/** Every state there is, in the words of the C++ firmware, and its edges; a fatal error may come from anywhere, and ends. */
const EDGES: Readonly<Record<DeviceState, readonly DeviceState[]>> = {
	unknown: ["starting"],
	starting: ["wifi_configuring", "activating"],
	wifi_configuring: ["activating"],
	activating: ["upgrading", "idle", "wifi_configuring"],
	upgrading: ["idle", "activating"],
	idle: ["connecting", "listening", "speaking", "activating", "upgrading", "wifi_configuring"],
	connecting: ["idle", "listening"],
	listening: ["speaking", "idle"],
	speaking: ["listening", "idle"],
	fatal_error: [],
};
const STATES = Object.keys(EDGES) as DeviceState[];

const isLegal = (from: DeviceState, to: DeviceState): boolean =>
	EDGES[from].includes(to) || (to === "fatal_error" && from !== "fatal_error");

function wayTo(target: DeviceState): DeviceState[] {
	const ways: DeviceState[][] = [["unknown"]];
	for (const way of ways) {
		const last = way.at(-1) as DeviceState;
		if (last === target) {
			return way.slice(1);
		}
		ways.push(...STATES.filter((next) => isLegal(last, next) && !way.includes(next)).map((next) => [...way, next]));
	}
	throw new Error(`no way to ${target}`);
}

/** An application that has not started, so that nothing else changes its state. */
function applicationIn(state: DeviceState) {
	const changes: DeviceState[] = [];
	const log: string[] = [];
	const host = {
		openBoard: () => new FakeBoard(),
		built: {},
		store: new FakeSettings(),
		openNetwork: () => ({}),
		findTools: () => [],
	};
	const application = new Application({ ...host, timer: new FakeTimer(), log: (line) => log.push(line) });
	application.listen({ onState: (newState) => void changes.push(newState) });
	for (const step of wayTo(state)) {
		application.enter(step);
	}
	changes.length = 0;
	log.length = 0;
	return { application, changes, log };
}

export default suite("device state", {
	"allows exactly the edges it should, from every state to every other"() {
		for (const from of STATES) {
			for (const to of STATES) {
				const { application, changes, log } = applicationIn(from);
				const legal = isLegal(from, to);
				const entered = application.enter(to);
				equal([entered, application.state], legal || from === to ? [true, to] : [false, from], `${from} ${to}`);
				equal(changes, legal ? [to] : [], "notified");
				equal(log, from === to ? [] : [`state ${from} -> ${to}${legal ? "" : " refused"}`]);
			}
		}
	},
	"is in its new state already when it notifies, and may be moved on from there"() {
		const { application, changes } = applicationIn("unknown");
		application.listen({
			onState(newState) {
				if (newState === "starting") {
					equal(application.state, "starting");
					application.enter("activating");
				}
			},
		});
		application.enter("starting");
		equal([changes, application.state], [["starting", "activating"], "activating"]);
	},
});
