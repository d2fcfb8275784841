import type { Feature } from "../../src/core/listener.js";
import { modsFeature } from "../../src/features/mods.js";
import { defineTool, type HardwareTool } from "../../src/tools/define-tool.js";
import { TOOLS } from "../doubles/client.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { start } from "../doubles/started-application.js";
import { equal, matches, suite } from "../harness.js";

const LASTING_START = 300_000;

const tool = (name: string): HardwareTool => defineTool({ name, description: "d", needs: [], run: () => true });

/** Starts a device with a mod. @returns the tools that it offers on a board with their parts */
function startWith(mod: (() => unknown) | undefined, board = new FakeBoard()) {
	let tools: readonly HardwareTool[] = [];
	const last: Feature = {
		name: "last",
		after: ["mods"],
		start: (app) => {
			tools = app.tools;
		},
	};
	const started = start(board, {}, undefined, { features: [modsFeature(() => mod), last] });
	return { ...started, tools };
}

/** The tools of a device with a mod that exports this, and the alerts about it. */
function load(exported: unknown, settings = new FakeSettings()) {
	const board = new FakeBoard(settings);
	const mod = () => (typeof exported === "function" ? exported() : exported);
	const { tools, log, timer } = startWith(mod, board);
	const broken = board.shown.flatMap(({ alert }) => (alert === undefined ? [] : [alert.message]));
	return {
		added: tools.slice(TOOLS.length).map(({ name }) => name),
		count: tools.length,
		broken,
		log: log.filter((line) => line.startsWith("mod")),
		settings,
		timer,
	};
}

export default suite("mods", {
	"add their tools after those of the firmware, and the log names them"() {
		const { added, broken, log } = load([tool("self.fan.set"), tool("self.fan.get")]);
		equal(added, ["self.fan.set", "self.fan.get"]);
		equal([broken, log], [[], ["mod: self.fan.set, self.fan.get"]]);
	},
	"are nothing to a device that has none"() {
		equal(startWith(undefined).tools === TOOLS, true);
	},
	"that throw, or export something else, are left out, and it is told what is wrong"() {
		const throwing = (): never => {
			throw new Error("no pin 99");
		};
		for (const [exported, reason] of [
			[throwing, /^no pin 99$/],
			[undefined, /is not a list of tools/],
			[tool("self.fan.set"), /is not a list of tools/],
			[[tool("self.a"), { name: "self.b" }], /^tool 2 was not created with defineTool$/],
			[[null], /^tool 1 was not created with defineTool$/],
			[[tool("self.reboot")], /^tool self.reboot is already registered$/],
			[[tool("self.a"), tool("self.a")], /^tool self.a is already registered$/],
		] as const) {
			const { count, broken } = load(exported);
			equal([count, broken.length], [TOOLS.length, 1]);
			matches(broken[0] ?? "", reason);
		}
	},
	"with which the device restarts again and again are left out, and tried again at the start after"() {
		const settings = new FakeSettings();
		const fan = [tool("self.fan.set")];
		for (let start = 1; start <= 5; start += 1) {
			// The machine ends while it is loaded, or later: nothing more is heard of this start.
			equal(load(fan, settings).added, ["self.fan.set"], `start ${start}`);
		}
		const without = load(fan, settings);
		equal(without.added, []);
		equal(without.broken, ["the device restarted 5 times with it; the next start tries it again"]);
		equal(load(fan, settings).added, ["self.fan.set"]);
	},
	"are counted before they are loaded, which may end the machine"() {
		const settings = new FakeSettings();
		const during: unknown[] = [];
		load(() => during.push(settings.get("mod", "starts")), settings);
		equal(during, [1]);
	},
	"that last for five minutes are not held responsible for later restarts"() {
		const settings = new FakeSettings();
		for (let start = 1; start <= 20; start += 1) {
			const { added, timer } = load([tool("self.fan.set")], settings);
			equal(added, ["self.fan.set"]);
			timer.pass(start % 5 === 0 ? LASTING_START : LASTING_START - 1);
		}
		equal(settings.get("mod", "starts"), undefined);
	},
});
