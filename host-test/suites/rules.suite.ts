import type { Feature } from "../../src/core/listener.js";
import { rulesFeature } from "../../src/features/rules/feature.js";
import { localTime, readTimeZone } from "../../src/features/rules/time-zone.js";
import type { Light } from "../../src/hardware/kinds/light.js";
import { analog } from "../../src/hardware/parts/analog.js";
import { button } from "../../src/hardware/parts/button.js";
import { addParts, device } from "../../src/hardware/parts/device.js";
import { relay } from "../../src/hardware/parts/relay.js";
import { servo } from "../../src/hardware/parts/servo.js";
import { string } from "../../src/mcp_server/schema.js";
import { defineTool } from "../../src/tools/define-tool.js";
import deleteRule from "../../src/tools/delete-rule.js";
import getStatus from "../../src/tools/get-device-status.js";
import listRules from "../../src/tools/list-rules.js";
import moveServo from "../../src/tools/parts/move-servo.js";
import setLight from "../../src/tools/parts/set-light.js";
import setSwitch from "../../src/tools/parts/set-switch.js";
import setRule from "../../src/tools/set-rule.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { FakePins } from "../doubles/fake-pins.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { listening, start as startApplication } from "../doubles/started-application.js";
import { equal, matches, ok, settled, suite, throws } from "../harness.js";

/** Sunday. */
const NOON = Date.UTC(2026, 10, 29, 12);

const PARTS = {
	pump: relay({ pin: 26, maxOn: 30 }),
	lamp: relay({ pin: 27 }),
	soil: analog({ pin: 34, kind: "moisture", unit: "%" }),
	doorbell: button({ pin: 4 }),
	arm: servo({ pin: 13, max: 90 }),
};

const spoken: string[] = [];
const say = defineTool({
	name: "self.say",
	description: "",
	needs: [],
	input: { text: string() },
	async run({ text }, _hardware, call) {
		await call.sleep(5_000);
		call.emit("said", { text });
		spoken.push(text);
		return true;
	},
});
const secret = defineTool({ name: "self.reset", description: "", audience: "user", needs: [], run: () => true });
let erased = 0;
const erase = defineTool({
	name: "self.erase",
	description: "",
	annotations: { destructiveHint: true },
	needs: [],
	run: () => {
		erased += 1;
		return true;
	},
});
const TOOLS = [setSwitch, setLight, moveServo, deleteRule, listRules, setRule, say, secret, erase];

interface Choice {
	readonly settings?: FakeSettings;
	readonly own?: ReturnType<typeof device>;
	readonly built?: object;
	readonly lights?: Readonly<Record<string, Light>>;
	/** Milliseconds since 1970 at the start. */
	readonly at?: number;
}

function start({
	settings = new FakeSettings(),
	own = device({ parts: PARTS }),
	built = {},
	lights = {},
	at = NOON,
}: Choice = {}) {
	const pins = new FakePins();
	const timer = new FakeTimer();
	const ticks = (): number => timer.now | 0;
	const clock = { offset: 0 };
	const log: string[] = [];
	const notified: object[] = [];
	const parts: Feature = {
		name: "parts",
		start(app) {
			const io = { load: <Export>(module: string) => pins.load<Export>(module), bus: () => ({}), timer, ticks };
			app.listen(addParts(app.board, own, { ...io, log: app.log }));
		},
	};
	const onNotification = (method: string, params: object): void => void notified.push({ method, ...params });
	const { application, transport } = startApplication(
		Object.assign(new FakeBoard(settings), { lights }),
		{},
		"always",
		{
			timer,
			ticks,
			now: () => at + clock.offset + timer.now,
			log: (line) => log.push(line),
			tools: TOOLS,
			built: { ...built },
			features: [parts, rulesFeature(() => own), listening({ onNotification })],
		},
	);
	transport.channel.greet();
	const { board, server } = application;
	let answer: { result?: { content: { text: string }[] }; error?: { message: string } } = {};
	const session = server.open({
		send(text) {
			answer = JSON.parse(String(text));
		},
	});
	const call = (name: string, args: object = {}): Record<string, unknown> => {
		session.receive({
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name: `self.rule.${name}`, arguments: args },
		});
		const { result, error } = answer;
		return error === undefined ? JSON.parse(result?.content[0]?.text ?? "") : { error: error.message };
	};
	const pass = async (seconds: number): Promise<void> => {
		for (let second = 0; second < seconds; second += 1) {
			await timer.passed(1_000);
		}
		await timer.passed(0);
	};
	const press = async (long = false): Promise<void> => {
		board.buttons?.doorbell?.onPress?.({ long, milliseconds: 100 });
		await timer.passed(0);
	};
	const soil = (percent: number): void => pins.set(34, Math.round(percent * 40.95));
	soil(100);
	const isOn = (name: string): boolean => board.switches?.[name]?.on === true;
	const rules = (): Record<string, unknown>[] => call("list").rules as Record<string, unknown>[];
	return { application, log, notified, timer, clock, settings, call, pass, press, soil, isOn, rules, board, own };
}

const switching = (name: string, more: object = {}): object => ({
	tool: "self.switch.set",
	arguments: { name, ...more },
});
const WATER = { name: "water", when: { sensor: "soil", below: 30 }, do: [switching("pump", { on: true, seconds: 5 })] };
const ZONE = "expected a time zone such as CET-1CEST,M3.5.0,M10.5.0/3";
const UNLESS = "unless: expected a sensor with above, below or value, a part such as a switch, after or before";
const TOGGLE = { name: "light", when: { press: "doorbell" }, do: [switching("lamp")] };

/** Makes a sensor answer no more. In the simulator its class is in flash: its methods cannot be assigned. */
const silence = (sensor: object): void => {
	const nothing = { value: () => undefined };
	Object.defineProperties(sensor, { latest: { value: undefined }, sample: nothing, read: nothing });
};

export default suite("rules of clients", {
	async "dry soil runs the pump, and again after the cooldown while it stays dry"() {
		const { call, pass, soil, isOn, log, notified, rules } = start();
		equal(call("set", WATER), { ...WATER, on: true, runs: 0, local_time: "sun 2026-11-29 12:00" });
		await pass(5);
		equal(isOn("pump"), false);
		soil(20);
		await pass(1);
		equal(isOn("pump"), true);
		await pass(5);
		equal(isOn("pump"), false);
		await pass(53);
		equal(isOn("pump"), false);
		await pass(2);
		equal([isOn("pump"), rules()[0]?.runs], [true, 2]);
		soil(50);
		await pass(120);
		equal([isOn("pump"), rules()[0]?.seconds_ago], [false, 120]);
		ok(log.includes("rule water: done"));
		ok(JSON.stringify(notified).includes('{"method":"notifications/rule_ran","rule":"water","ok":true}'));
	},
	async "a sensor that no longer answers runs nothing"() {
		const { call, pass, isOn, board } = start();
		call("set", { ...WATER, when: { sensor: "soil", below: 101 } });
		silence(board.sensors?.soil as object);
		await pass(3);
		equal(isOn("pump"), false);
	},
	async "presses toggle the lamp each time, and long ones are another event"() {
		const { call, pass, press, isOn } = start();
		call("set", TOGGLE);
		call("set", { name: "off", when: { press: "doorbell", long: true }, do: [switching("lamp", { on: false })] });
		await press();
		equal(isOn("lamp"), true);
		await press();
		equal(isOn("lamp"), false);
		await pass(1);
		await press();
		await press(true);
		equal(isOn("lamp"), false);
	},
	async "a press that runs a rule has no other meaning, and the main button is one that its maker has named"() {
		const states = async (parts: Parameters<typeof device>[0]["parts"], rule?: object): Promise<string> => {
			const { call, press, application } = start({ own: device({ parts }) });
			call("set", rule ?? WATER);
			await press();
			return application.state;
		};
		const talking = { ...PARTS, doorbell: button({ pin: 4, assistant: true }) };
		equal(await states(PARTS), "idle");
		equal(await states(talking), "listening");
		equal(await states(talking, TOGGLE), "idle");
	},
	async "a long press of the main button starts the Wi-Fi set-up, whatever rules it has"() {
		const { call, board, press } = start({
			own: device({ parts: { ...PARTS, doorbell: button({ pin: 4, assistant: true }) } }),
		});
		let begun = 0;
		const wifiSetup = {
			begin(): void {
				begun += 1;
			},
		};
		Object.assign(board, { wifiSetup });
		equal(
			call("set", { ...TOGGLE, when: { press: "doorbell", long: true } }).error,
			"when.long: a long press of doorbell starts the Wi-Fi set-up",
		);
		call("set", { ...TOGGLE, when: { event: "button.pressed" } });
		await press();
		equal(begun, 0);
		await press(true);
		equal(begun, 1);
	},
	async "a long press shows the rules on the screen, with their runs and errors"() {
		const { call, press, pass, soil, board } = start();
		const shown: (string | undefined)[] = [];
		Object.assign(board, {
			screen: {
				show({ message }: { message?: string }, milliseconds?: number): void {
					shown.push(...(message === undefined ? [] : [`${message} (${milliseconds})`]));
				},
			},
		});
		await press(true);
		equal(shown, []);
		call("set", WATER);
		call("set", { ...TOGGLE, on: false });
		call("set", { name: "late", when: { at: "07:00" }, do: TOGGLE.do });
		soil(20);
		await pass(2);
		await press(true);
		equal(shown, ["water: 1, light: off, late: 0 (10000)"]);
	},
	async "rules stay through a restart, and run without a session"() {
		const { call, settings } = start();
		call("set", WATER);
		call("set", { ...TOGGLE, cooldown: 9, unless: { sensor: "soil", above: 90 } });
		const again = start({ settings });
		equal(again.rules(), [
			{ ...WATER, on: true, runs: 0 },
			{ ...TOGGLE, cooldown: 9, unless: { sensor: "soil", above: 90 }, on: true, runs: 0 },
		]);
		again.application.emit("onSessionLost", undefined);
		again.soil(10);
		await again.pass(1);
		equal(again.isOn("pump"), true);
	},
	async "a rule of the same name is replaced, paused, resumed and deleted"() {
		const { call, press, isOn, rules, settings } = start();
		call("set", WATER);
		call("set", { ...TOGGLE, name: "water" });
		equal(rules().length, 1);
		equal(call("set", { name: "water", on: false }).on, false);
		await press();
		equal([isOn("lamp"), start({ settings }).rules()[0]?.on], [false, false]);
		equal(call("set", { name: "water", on: true }).on, true);
		await press();
		equal([isOn("lamp"), call("delete", { name: "water" }), rules()], [true, true, []]);
		equal(call("delete", { name: "water" }).error, 'name: no rule is called "water"; the device has none');
		equal(settings.values.has("rules/0"), false);
	},
	async "a rule that is set again or resumed stays in its cooldown"() {
		const { call, pass, soil, isOn } = start();
		soil(20);
		call("set", WATER);
		await pass(7);
		call("set", { name: "water", on: false });
		call("set", { name: "water", on: true });
		await pass(7);
		equal(isOn("pump"), false);
		call("set", { ...WATER, when: { sensor: "soil", below: 40 } });
		await pass(7);
		equal(isOn("pump"), false);
		await pass(40);
		equal(isOn("pump"), true);
	},
	async "a rule whose time of day is changed runs then"() {
		const { call, pass, rules } = start({ built: { timezone: "UTC0" } });
		call("set", { ...TOGGLE, when: { at: "12:01" } });
		await pass(60);
		call("set", { ...TOGGLE, when: { at: "12:02" } });
		await pass(60);
		equal(rules()[0]?.runs, 1);
	},
	"a rule is not resumed by another member"() {
		const { call, rules } = start();
		call("set", { ...WATER, on: false });
		for (const change of [{ cooldown: 60 }, {}, { on: true, unless: { switch: "lamp" } }]) {
			equal(
				call("set", { name: "water", ...change }).error,
				"when: missing, expected an object or a list, or on alone",
			);
		}
		equal(rules()[0]?.on, false);
	},
	"the device's status has rules only while there is one"() {
		const { call, board } = start();
		const hasRules = (): boolean => "rules" in (getStatus.run({}, board, undefined as never) as object);
		equal(hasRules(), false);
		call("set", WATER);
		equal(hasRules(), true);
		call("delete", { name: "water" });
		equal(hasRules(), false);
	},
	"a rule may be called like a member of each object"() {
		const { call, rules, board } = start();
		equal("toString" in (board.rules ?? {}), false);
		equal(call("set", { ...WATER, name: "toString" }).error, undefined);
		equal(
			rules().map(({ name }) => name),
			["toString"],
		);
	},
	"a slot that cannot be read is used last"() {
		const settings = new FakeSettings();
		settings.set("rules", "0", "{");
		const { call } = start({ settings });
		const set = (name: string): unknown => call("set", { ...TOGGLE, name }).error;
		equal(new Set(Array.from({ length: 15 }, (_, index) => set(`r${index}`))).size, 1);
		equal(settings.get("rules", "0"), "{");
		equal(set("last"), undefined);
		matches(String(settings.get("rules", "0")), /last/);
	},
	"a rule of the largest size is paused and resumed"() {
		const { call, settings } = start();
		const rule = (text: string): object => ({ name: "light", when: { event: "line.received", text }, do: TOGGLE.do });
		const room = 256 - JSON.stringify(rule("")).length;
		matches(String(call("set", rule("x".repeat(room + 1))).error), /^the rule has 257 bytes as JSON \(limit 256\)/);
		const largest = rule("x".repeat(room));
		equal(call("set", { ...largest, on: false }).error, undefined);
		for (const on of [true, false]) {
			equal(call("set", { name: "light", on }).on, on);
		}
		equal(start({ settings }).rules(), [{ ...largest, on: false, runs: 0 }]);
	},
	"a rule whose sensor is gone is paused, and not resumed"() {
		const settings = new FakeSettings();
		settings.set("rules", "0", JSON.stringify({ ...WATER, when: { sensor: "rain", below: 1 } }));
		const { call } = start({ settings });
		equal(call("set", { name: "water", on: false }).on, false);
		equal(call("set", { name: "water", on: true }).error, 'when.sensor: expected one of soil, not "rain"');
	},
	"a rule that cannot work is refused, and the error names the member"() {
		const { call, rules } = start();
		const why = (change: object): unknown => call("set", { ...WATER, ...change }).error;
		const doing = (tool: string, args?: object): unknown => why({ do: [{ tool, arguments: args }] });
		const anyOf = "when: expected one of press, event, every, at, or a sensor with above or below";
		for (const [error, expected] of [
			[
				doing("self.switch.set", { name: "pump", on: true, seconds: 60 }),
				"seconds: pump stays on for at most 30 seconds, not 60",
			],
			[doing("self.servo.move", { name: "arm", angle: 120 }), "angle: arm moves from 0 to 90 degrees, not to 120"],
			[doing("self.switch.set", { name: "pmp" }), 'name: expected one of pump, lamp, not "pmp"'],
			[
				doing("self.switch.set", { on: true }),
				"do[0].arguments.name: missing, expected a string of at most 64 characters",
			],
			[
				doing("self.switch.set", { name: "pump", secs: 5 }),
				"do[0].arguments.secs: unknown, expected name, on, seconds",
			],
			[doing("self.switch.sett"), "do[0].tool: unknown tool self.switch.sett. Did you mean self.switch.set?"],
			[doing("self.reset"), "do[0].tool: no rule may call self.reset"],
			[doing("self.erase"), "do[0].tool: no rule may call self.erase"],
			[doing("self.rule.delete", { name: "water" }), "do[0].tool: no rule may call self.rule.delete"],
			[why({ when: { press: "bell" } }), 'when.button: expected one of doorbell, not "bell"'],
			[why({ when: { sensor: "soill", below: 3 } }), 'when.sensor: expected one of soil, not "soill"'],
			[why({ when: { below: 3 } }), "when.sensor: missing, expected the name of a sensor"],
			[why({ when: {} }), anyOf],
			[why({ when: { press: "doorbell", every: 60 } }), anyOf],
			[why({ when: { at: "7:00" } }), 'when.at: expected a time of day such as 07:00, got "7:00"'],
			[why({ when: { every: 60, days: ["mon"] } }), "when.days: expected only with at"],
			[
				why({ when: { event: "switch.changed", sensor: "soil" } }),
				"when.sensor: no value of switch.changed, expected switch, on, cause",
			],
			[why({ unless: { switch: "pmp" } }), 'unless.switch: expected one of pump, lamp, not "pmp"'],
			[why({ unless: { on: true } }), UNLESS],
			[why({ unless: { sensor: "soil" } }), UNLESS],
			[why({ unless: { above: 3, switch: "lamp" } }), UNLESS],
			[why({ name: "my plants" }), 'name: expected letters, digits and "_" after a letter, got "my plants"'],
			[why({ do: undefined }), "do: missing, expected an object or a list, or on alone"],
			...[{}, { switch: "pump", on: false }].map((filters) => [
				why({ when: { event: "switch.changed", ...filters } }),
				"when: pump would switch itself on again each time that it goes off, past its limit: expected on true, or another trigger",
			]),
		]) {
			equal(error, expected);
		}
		matches(
			String(why({ name: "e".repeat(32), do: Array.from({ length: 4 }, () => WATER.do[0]) })),
			/^the rule has \d+ bytes as JSON \(limit 256\)/,
		);
		equal(rules(), []);
	},
	async "a limit that its sensor cannot reach is refused"() {
		const { call, board, pass } = start();
		await pass(1);
		const air = { ...board.sensors?.soil, latest: { temperature: 20, humidity: 50 } };
		Object.assign(board, { sensors: { ...board.sensors, air, door: { ...air, latest: true } } });
		const why = (change: object): unknown => call("set", { ...WATER, ...change }).error;
		const kinds = "kind: expected one of temperature, humidity";
		for (const [error, expected] of [
			[why({ when: { sensor: "air", above: 25 } }), `when.${kinds}, not ""`],
			[why({ when: { sensor: "air", above: 25, kind: "temprature" } }), `when.${kinds}, not "temprature"`],
			[why({ unless: { sensor: "air", below: 25 } }), `unless.${kinds}, not ""`],
			[why({ when: { sensor: "door", above: 0 } }), "when.above: door has no number but true"],
			[why({ unless: { sensor: "door", below: 1 } }), "unless.below: door has no number but true"],
			[why({ unless: { sensor: "soil", value: true } }), "unless.value: soil has a number: expected above or below"],
			[
				why({ when: { sensor: "air", above: 25, kind: "humidity" }, unless: { sensor: "door", value: true } }),
				undefined,
			],
		]) {
			equal(error, expected);
		}
	},
	"a limit of a sensor that has no value yet is checked by a new one"() {
		const { call } = start();
		const error = "unless.value: soil has a number: expected above or below";
		equal(call("set", { ...WATER, unless: { sensor: "soil", value: true } }).error, error);
	},
	async "a rule whose sensor turns out to have no such value does not run, and says so"() {
		const { call, press, rules, board, isOn, log } = start();
		const { soil } = board.sensors ?? {};
		silence(soil as object);
		call("set", { ...TOGGLE, unless: { sensor: "soil", below: 1 } });
		await press();
		Object.assign(board, { sensors: { soil: { latest: true } } });
		await press();
		await press();
		const error = "unless.below: soil has no number but true";
		equal([isOn("lamp"), rules()[0]?.error, rules()[0]?.runs], [false, error, 0]);
		equal(log.filter((line) => line === `light: ${error}`).length, 1);
	},
	async "a press switches a light"() {
		const led = { on: false };
		const { call, press } = start({ lights: { led } });
		call("set", { ...TOGGLE, do: [{ tool: "self.light.set", arguments: { light: "led", on: true } }] });
		await press();
		equal(led.on, true);
	},
	"a tool may have the name by which clients of a gateway know it"() {
		const { call } = start();
		const names = ["self_switch_set", "garden__self_switch_set"].map((tool) => {
			const [first] = call("set", { ...TOGGLE, do: [{ tool, arguments: { name: "lamp" } }] }).do as { tool: string }[];
			return first?.tool;
		});
		equal(names, ["self.switch.set", "self.switch.set"]);
	},
	"at most sixteen rules are kept"() {
		const { call, rules } = start();
		const results = Array.from({ length: 17 }, (_, index) => call("set", { ...TOGGLE, name: `r${index}` }).error);
		equal([results.filter((error) => error === undefined).length, rules().length], [16, 16]);
		equal(results.at(-1), "rule limit reached (16): delete one first");
		equal(call("set", { ...TOGGLE, name: "r3", cooldown: 5 }).cooldown, 5);
	},
	"a rule that cannot be stored is refused, and the former one stays"() {
		const { call, rules, settings } = start();
		call("set", WATER);
		const { set } = settings;
		settings.set = (domain, key, value) => !String(value).includes("lamp") && set.call(settings, domain, key, value);
		equal(
			call("set", { ...TOGGLE, name: "water" }).error,
			"the rule could not be stored; the device's log has the reason",
		);
		equal(rules(), [{ ...WATER, on: true, runs: 0 }]);
	},
	async "a rule that its own event starts again is paused after thirty runs in a minute"() {
		const { call, application, timer, rules, log } = start();
		call("set", {
			name: "echo",
			when: { event: "switch.changed", switch: "pump" },
			do: [switching("lamp", { on: false })],
		});
		for (let time = 0; time < 100; time += 1) {
			application.notify("notifications/switch_changed", { switch: "pump", on: true, cause: "call" });
			await timer.passed(1);
		}
		const [echo] = rules();
		equal([echo?.runs, echo?.on], [31, false]);
		matches(String(echo?.error), /^paused: its own event starts it again, 30 times in a minute$/);
		ok(log.at(-1)?.startsWith("rule echo: paused"));
	},
	async "rules that switch each other's parts are paused after thirty runs in a row"() {
		const { call, pass, rules, board, isOn, notified } = start();
		const after = (other: string, name: string): void => {
			const when = { event: "switch.changed", switch: other, on: false };
			call("set", { name, when, do: [switching(name, { on: true, seconds: 20 })] });
		};
		after("lamp", "pump");
		after("pump", "lamp");
		board.switches?.lamp?.turn(true);
		board.switches?.lamp?.turn(false);
		await pass(1_000);
		equal(
			rules().map(({ on, runs }) => [on, runs]),
			[
				[false, 16],
				[true, 15],
			],
		);
		equal(rules()[0]?.error, "paused: rules start each other, 30 times in a row");
		equal([isOn("lamp"), isOn("pump")], [false, false]);
		ok(JSON.stringify(notified).includes('"rule":"pump","ok":false'));
		equal(call("set", { name: "pump", on: true }).on, true);
		board.switches?.lamp?.turn(true);
		board.switches?.lamp?.turn(false);
		await pass(100);
		equal(
			rules().map(({ on, runs }) => [on, runs]),
			[
				[true, 18],
				[true, 3],
			],
			"a call starts a new chain",
		);
	},
	async "a person who switches often is not taken for a loop"() {
		const { call, pass, rules, board } = start();
		const when = { event: "switch.changed", switch: "lamp", on: true };
		call("set", { name: "both", when, do: [switching("pump", { on: true, seconds: 1 })] });
		for (let time = 0; time < 40; time += 1) {
			board.switches?.lamp?.turn(true);
			await pass(2);
			board.switches?.lamp?.turn(false);
			await pass(2);
		}
		equal([rules()[0]?.on, rules()[0]?.runs], [true, 40]);
	},
	async "a rule whose tool fails says so, and runs again"() {
		const { call, press, rules, notified, log } = start();
		call("set", { ...TOGGLE, do: [switching("lamp", { on: false }), switching("pump", { on: true })] });
		await press();
		await press();
		equal(rules()[0]?.error, undefined);
		call("set", { ...TOGGLE, do: [switching("pump", { on: false }), switching("pump", { on: true })] });
		await press();
		const error = "pump: switched on too often; try again in 1 seconds";
		equal([rules()[0]?.error, log.at(-1)], [error, `rule light: ${error}`]);
		equal(notified.at(-1), { method: "notifications/rule_ran", rule: "light", ok: false, error });
	},
	async "a rule runs at its interval"() {
		const { call, pass, rules } = start();
		call("set", { ...WATER, when: { every: 60 } });
		await pass(59);
		equal(rules()[0]?.runs, 0);
		await pass(61);
		equal(rules()[0]?.runs, 2);
	},
	async "a rule runs at its local time, on its days"() {
		const { call, pass, rules } = start({ built: { timezone: "CET-1CEST,M3.5.0,M10.5.0/3" }, at: NOON - 30_000 });
		call("set", { ...TOGGLE, when: { at: "13:00", days: ["sun"] } });
		equal(call("set", { ...WATER, when: { at: "13:00", days: ["mon"] } }).local_time, "sun 2026-11-29 12:59");
		await pass(29);
		equal(
			rules().map(({ runs }) => runs),
			[0, 0],
		);
		await pass(1);
		equal(
			rules().map(({ runs }) => runs),
			[1, 0],
		);
		await pass(120);
		equal(
			rules().map(({ runs }) => runs),
			[1, 0],
		);
	},
	async "a time of day that passes while the clock jumps or the machine is busy is not skipped"() {
		const { call, pass, rules, clock } = start({ built: { timezone: "UTC0" } });
		for (const at of ["12:02", "12:20", "13:00"]) {
			call("set", { ...TOGGLE, name: `at_${at.replace(":", "_")}`, when: { at } });
		}
		const runs = (): unknown => rules().map((rule) => rule.runs);
		clock.offset = 4 * 60_000;
		await pass(1);
		equal(runs(), [1, 0, 0]);
		clock.offset = 40 * 60_000;
		await pass(1);
		equal(runs(), [1, 0, 0]);
		clock.offset = -5 * 60_000;
		await pass(120);
		equal(runs(), [1, 0, 0]);
	},
	async "a time of day waits until the clock is set"() {
		const { call, pass, rules } = start({ at: 0 });
		equal(call("set", { ...TOGGLE, when: { at: "00:01" } }).local_time, undefined);
		await pass(180);
		equal(rules()[0]?.runs, 0);
	},
	async "a clock that is set runs no time of day before"() {
		const { call, pass, rules, clock } = start({ at: 0, built: { timezone: "UTC0" } });
		call("set", { ...TOGGLE, when: { at: "11:59" } });
		await pass(60);
		clock.offset = NOON;
		await pass(61);
		equal(rules()[0]?.runs, 0);
	},
	async "a rule does not run while all that it names in unless holds"() {
		const { call, press, soil, pass, isOn } = start({ built: { timezone: "UTC0" } });
		const runs = async (unless: object): Promise<boolean> => {
			call("set", { ...TOGGLE, do: [switching("lamp", { on: true })], unless });
			await press();
			const ran = isOn("lamp");
			call("set", { ...TOGGLE, do: [switching("lamp", { on: false })] });
			await press();
			await pass(1);
			return ran;
		};
		soil(50);
		await pass(1);
		const results: boolean[] = [];
		for (const unless of [
			{ sensor: "soil", below: 60 },
			{ sensor: "soil", below: 40 },
			{ switch: "lamp", on: false },
			{ switch: "lamp" },
			{ after: "11:00", before: "13:00" },
			{ after: "22:00", before: "11:00" },
			{ sensor: "soil", below: 60, switch: "lamp" },
		]) {
			results.push(await runs(unless));
		}
		equal(results, [false, true, false, true, false, true, true]);
	},
	async "an asynchronous call is awaited, its events reach clients, and a deleted rule is cancelled"() {
		spoken.length = 0;
		const { call, press, timer, rules } = start();
		const saying = (text: string): object => ({ tool: "self.say", arguments: { text } });
		call("set", { ...TOGGLE, do: [saying("one"), saying("two")] });
		await press();
		await press();
		await timer.passed(5_000);
		await timer.passed(5_000);
		equal([spoken, rules()[0]?.runs], [["one", "two"], 1]);
		await press();
		call("delete", { name: "light" });
		await timer.passed(10_000);
		equal(spoken, ["one", "two"]);
	},
	async "a stored rule whose tool or sensor is gone is kept with its error, and one that cannot be read is skipped"() {
		const settings = new FakeSettings();
		const gone = { ...TOGGLE, do: [{ tool: "self.lamp.on" }] };
		settings.set("rules", "0", JSON.stringify(gone));
		settings.set("rules", "3", "{");
		settings.set("rules", "4", JSON.stringify({ ...WATER, when: { sensor: "rain", below: 1 } }));
		settings.set("rules", "5", JSON.stringify({ name: "x", do: 7 }));
		const { rules, press, log } = start({ settings });
		equal(
			rules().map(({ name, error }) => [name, error]),
			[
				["light", "do[0].tool: unknown tool self.lamp.on"],
				["water", 'when.sensor: expected one of soil, not "rain"'],
			],
		);
		equal(log.filter((line) => line.includes("cannot be read")).length, 2);
		await press();
		equal(rules()[0]?.error, "unknown tool self.lamp.on");
		equal(settings.get("rules", "3"), "{");
	},
	async "a stored rule does not call a tool that no rule may call"() {
		const settings = new FakeSettings();
		settings.set("rules", "0", JSON.stringify({ ...TOGGLE, do: [{ tool: "self.erase" }] }));
		const { rules, press } = start({ settings });
		erased = 0;
		await press();
		equal([rules()[0]?.error, erased], ["no rule may call self.erase", 0]);
	},
	async "rules that need the time, a sensor or a serial line keep the device awake"() {
		const { call, board } = start();
		call("set", TOGGLE);
		equal(board.ruleBook?.awake, undefined);
		call("set", WATER);
		equal(board.ruleBook?.awake, "water");
		call("set", { name: "water", on: false });
		equal(board.ruleBook?.awake, undefined);
		const awake = [
			{ event: "sensor.changed", sensor: "soil" },
			{ event: "line.received" },
			{ event: "switch.changed", on: true },
		].map((when) => {
			call("set", { name: "event", when, do: [switching("lamp", { on: false })] });
			return board.ruleBook?.awake;
		});
		equal(awake, ["event", "event", undefined]);
		await settled();
	},
	"a time zone follows its changes of summer time"() {
		const local = (zone: string, ...date: Parameters<typeof Date.UTC>): string => {
			const { day, time } = localTime(Date.UTC(...date), readTimeZone(zone));
			return `${day} ${time}`;
		};
		const berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
		equal(local(berlin, 2026, 2, 29, 0, 59), "sun 01:59");
		equal(local(berlin, 2026, 2, 29, 1, 0), "sun 03:00");
		equal(local(berlin, 2026, 9, 25, 0, 59), "sun 02:59");
		equal(local(berlin, 2026, 9, 25, 1, 0), "sun 02:00");
		const sydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
		equal(local(sydney, 2026, 0, 1, 0, 0), "thu 11:00");
		equal(local(sydney, 2026, 6, 1, 0, 0), "wed 10:00");
		equal(local("EST5EDT,M3.2.0,M11.1.0", 2026, 2, 8, 7, 0), "sun 03:00");
		equal(local("EST5EDT", 2026, 2, 8, 7, 0), "sun 03:00");
		equal(local("EST5EDT", 2026, 10, 1, 6, 0), "sun 01:00");
		equal(local("UTC", 2026, 6, 1, 0, 0), "wed 00:00");
		equal(local("<+0545>-5:45", 2026, 0, 1, 0, 0), "thu 05:45");
		equal(local("JST-9", 2026, 0, 1, 0, 0), "thu 09:00");
		equal(readTimeZone(""), undefined);
		for (const wrong of ["Europe/Berlin", "CET", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0"]) {
			throws(() => readTimeZone(wrong), /^timezone: expected a time zone such as CET-1CEST/);
		}
	},
	"a time zone that is none is logged, and local time is UTC"() {
		const { application, call, log } = start({ built: { timezone: "Berlin" } });
		equal(application.failure, undefined);
		ok(log.includes(`timezone: ${ZONE}, got "Berlin". Local time is UTC`));
		equal(call("list").local_time, "sun 2026-11-29 12:00");
	},
});

export const HANDLERS = suite("handlers of a maker", {
	async "a press toggles the lamp, a limit runs the pump, and each has its own parts"() {
		const events: unknown[] = [];
		const own = device({
			parts: PARTS,
			on: {
				doorbell: {
					press: ({ switches }) => switches.lamp.toggle(),
					longPress: ({ switches }) => switches.lamp.turn(false),
				},
				soil: { below: [30, ({ switches }, { value }) => switches.pump.turn(true, value < 10 ? 10 : 5)] },
				lamp: { change: (_hardware, event) => events.push(event) },
			},
		});
		const { press, pass, soil, isOn, board } = start({ own });
		await press();
		equal(isOn("lamp"), true);
		await press(true);
		equal(isOn("lamp"), false);
		soil(20);
		await pass(1);
		equal([isOn("pump"), board.switches?.pump?.left], [true, 5]);
		equal(events, [
			{ switch: "lamp", on: true, cause: "call" },
			{ switch: "lamp", on: false, cause: "call" },
		]);
	},
	async "a limit that its sensor cannot reach is logged once"() {
		const own = device({ parts: PARTS, on: { soil: { above: [30, () => {}, { kind: "humidity" }] } } });
		const { board, pass, log } = start({ own });
		silence(board.sensors?.soil as object);
		await pass(2);
		Object.assign(board, { sensors: { soil: { latest: { temperature: 20 } } } });
		await pass(3);
		equal(
			log.filter((line) => line.startsWith("soil.above")),
			['soil.above 30: kind: expected one of temperature, not "humidity"'],
		);
	},
	async "handlers run at intervals and at times of day"() {
		const ran: string[] = [];
		const own = device({
			parts: PARTS,
			every: [[10, () => ran.push("every")]],
			at: [["12:01", () => ran.push("at"), { days: ["sun"] }]],
		});
		const { pass } = start({ own, built: { timezone: "UTC0" } });
		await pass(9);
		equal(ran, []);
		await pass(1);
		equal(ran, ["every"]);
		await pass(51);
		equal(ran, ["every", "every", "every", "every", "every", "every", "at"]);
	},
	async "a handler of each second is not taken for a loop"() {
		let runs = 0;
		const own = device({
			parts: PARTS,
			every: [
				[
					1,
					() => {
						runs += 1;
					},
				],
			],
		});
		await start({ own }).pass(59);
		equal(runs, 59);
	},
	async "handlers that are taken for a loop are resumed within a minute"() {
		let runs = 0;
		const slow = async (): Promise<void> => {
			runs += 1;
			await new Promise<void>((resolve) => timer.set(resolve, 1_500));
		};
		const own = device({ parts: PARTS, on: { lamp: { change: slow }, pump: { change: slow } } });
		const { application, pass, timer, log } = start({ own });
		const alternate = async (seconds: number): Promise<void> => {
			for (let second = 0; second < seconds; second += 1) {
				const name = second % 2 === 0 ? "lamp" : "pump";
				application.notify("notifications/switch_changed", { switch: name, on: true, cause: "call" });
				await pass(1);
			}
		};
		await alternate(50);
		ok(log.some((line) => /^(lamp|pump)\.change: paused/.test(line)));
		await pass(60);
		ok(log.some((line) => /^(lamp|pump)\.change: resumed$/.test(line)));
		runs = 0;
		await alternate(10);
		equal(runs, 10);
	},
	async "an error is logged with the handler's name, and the device goes on"() {
		const own = device({
			parts: PARTS,
			on: {
				doorbell: {
					press() {
						throw new Error("on purpose");
					},
					longPress: async ({ switches }) => {
						switches.pump.turn(true, 60);
					},
				},
			},
		});
		const { press, log, application } = start({ own });
		await press();
		await press(true);
		await press();
		equal(
			log.filter((line) => line.startsWith("doorbell.")),
			[
				"doorbell.press: on purpose",
				"doorbell.longPress: seconds: pump stays on for at most 30 seconds, not 60",
				"doorbell.press: on purpose",
			],
		);
		equal(application.guard.count, 0);
	},
	async "a handler that never ends is left after a minute, so that it runs again"() {
		let runs = 0;
		const press = async (): Promise<void> => {
			runs += 1;
			await new Promise(() => {});
		};
		const own = device({ parts: PARTS, on: { doorbell: { press } } });
		const { press: push, timer, log } = start({ own });
		await push();
		await push();
		equal(runs, 1);
		await timer.passed(60_000);
		await push();
		equal([runs, log.includes("doorbell.press: stopped after 60 seconds")], [2, true]);
	},
	"a device with a handler that cannot work is refused, and the error names it"() {
		const handled = (handlers: object): string => {
			try {
				device({ parts: PARTS, ...handlers });
				return "";
			} catch (error) {
				return (error as Error).message;
			}
		};
		const press = (): void => {};
		equal(handled({ on: { doorbel: { press } } }), "on.doorbel: expected a part: pump, lamp, soil, doorbell, arm");
		equal(handled({ on: { doorbell: { pres: press } } }), "on.doorbell.pres: expected press, longPress");
		equal(handled({ on: { doorbell: { press: 1 } } }), "on.doorbell.press: expected a function");
		equal(handled({ on: { arm: { change: press } } }), "on.arm.change: expected no handler: a servo has no events");
		matches(handled({ on: { soil: { below: press } } }), /^on\.soil\.below: expected \[number, function\]/);
		matches(handled({ every: [[0, press]] }), /^every\[0\]: expected \[seconds, function\]/);
		matches(handled({ at: [["7:00", press]] }), /^at\[0\]: expected \["07:00", function\]/);
		matches(handled({ at: [["07:00", press, { days: ["funday"] }]] }), /^at\[0\]/);
	},
});
