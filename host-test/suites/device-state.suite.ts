import { type DeviceState, DeviceStateMachine } from "../../src/core/device-state.js";
import { equal, suite } from "../harness.js";

/** Every state there is, in the words of the C++ firmware, and its edges; a fatal error may come from anywhere, and ends. */
const EDGES: Readonly<Record<DeviceState, readonly DeviceState[]>> = {
	unknown: ["starting"],
	starting: ["wifi_configuring", "activating"],
	wifi_configuring: ["audio_testing", "activating"],
	audio_testing: ["wifi_configuring"],
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

function machineIn(state: DeviceState) {
	const changes: string[] = [];
	const log: string[] = [];
	const machine = new DeviceStateMachine({
		onStateChange: (newState, oldState) => changes.push(`${oldState} ${newState}`),
		log: (line) => log.push(line),
	});
	for (const step of wayTo(state)) {
		machine.enter(step);
	}
	changes.length = 0;
	return { machine, changes, log };
}

export default suite("device state", {
	"allows exactly the edges it should, from every state to every other"() {
		for (const from of STATES) {
			for (const to of STATES) {
				const { machine, changes, log } = machineIn(from);
				const legal = isLegal(from, to);
				const entered = machine.enter(to);
				equal([entered, machine.state], legal || from === to ? [true, to] : [false, from], `${from} ${to}`);
				equal(changes, legal ? [`${from} ${to}`] : [], "notified");
				equal(log.length, legal || from === to ? 0 : 1, "logged");
			}
		}
	},
	"begins in unknown"() {
		equal(new DeviceStateMachine({ onStateChange() {}, log() {} }).state, "unknown");
	},
	"names both states when it rejects a transition"() {
		const { machine, log } = machineIn("connecting");
		machine.enter("speaking");
		equal(log, ["state connecting -> speaking refused"]);
	},
	"is in its new state already when it notifies, and may be moved on from there"() {
		const seen: string[] = [];
		const machine = new DeviceStateMachine({
			onStateChange(newState, oldState) {
				seen.push(`${oldState} ${newState} ${machine.state}`);
				if (newState === "starting") {
					machine.enter("activating");
				}
			},
			log() {},
		});
		machine.enter("starting");
		equal(seen, ["unknown starting starting", "starting activating activating"]);
	},
});
