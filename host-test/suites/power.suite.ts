import conversation from "../../src/features/conversation/feature.js";
import { LANGUAGES } from "../../src/features/language.js";
import power from "../../src/features/power.js";
import type { ChipPower, WakePin } from "../../src/hardware/hardware.js";
import type { Button } from "../../src/hardware/kinds/button.js";
import { PART_KINDS, type PartsByKind } from "../../src/hardware/kinds/index.js";
import { FakeBoard, FakeUpdater } from "../doubles/fake-board.js";
import { makeFace } from "../doubles/fake-canvas.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { request, startOn } from "../doubles/started-application.js";
import { equal, given, ok, suite } from "../harness.js";

const DIMMED = 20;

class FakeChipPower implements ChipPower {
	readonly modes: string[] = [];
	readonly slept: { pins: readonly WakePin[]; seconds: number }[] = [];
	fails = false;

	saveWiFi(mode: string): void {
		this.modes.push(mode);
		if (this.fails) {
			throw new Error("not taken by the Wi-Fi");
		}
	}

	canWake({ pin }: WakePin): boolean {
		return pin < 22;
	}

	sleep(pins: readonly WakePin[], seconds: number): void {
		this.slept.push({ pins, seconds });
		if (this.fails) {
			throw new Error("the pin cannot wake the chip");
		}
	}
}

interface Choice {
	readonly built?: object;
	readonly isOnTrial?: boolean;
	readonly battery?: boolean;
	readonly pins?: readonly number[];
	readonly chip?: FakeChipPower;
	readonly parts?: PartsByKind;
	readonly timers?: readonly string[];
}

/** Later than the machine's clock. */
const NOW = Date.UTC(2100, 0, 1);

function start({
	built,
	isOnTrial = false,
	battery = true,
	pins = [0, 41],
	chip = new FakeChipPower(),
	parts,
	timers = [],
}: Choice = {}) {
	const bare = new FakeBoard();
	const screen = Object.assign(bare.screen, { light: 100 });
	const updater = new FakeUpdater();
	updater.isOnTrial = isOnTrial;
	const buttons = Object.fromEntries(
		pins.map((pin): [string, Button] => [`b${pin}`, { onPress: undefined, wakePin: { pin, high: false } }]),
	);
	const board = Object.assign(bare, { updater, buttons, power: chip, ...parts });
	for (const [at, text] of timers.entries()) {
		board.settings.set("timers", String(at + 1), text);
	}
	if (!battery) {
		Object.defineProperty(board, "battery", { value: undefined });
	}
	const timer = new FakeTimer();
	const now = (): number => NOW + timer.now;
	const features = timers.length > 0 ? [conversation, power] : [power];
	const started = startOn({ board, built: { session: "on-demand", ...built }, features, now, timer });
	const lightAfter = (seconds: number): number => {
		started.timer.pass(seconds * 1000);
		return screen.light;
	};
	const press = (name = "b0"): void => buttons[name]?.onPress?.({ long: false, milliseconds: 100 });
	const say = (message: object): void =>
		started
			.sockets()
			.at(-1)
			?.arrive([JSON.stringify(message)]);
	return { ...started, board, screen, chip, lightAfter, press, say };
}

function darkInSession() {
	const started = start({ built: { session: "always", screenOff: 20 } });
	started.greet();
	equal(started.lightAfter(20), 0);
	return started;
}

export default suite("power", {
	"dims the screen of a board with a battery after a minute, and turns it off after five"() {
		const { lightAfter } = start();
		const lights = [lightAfter(59), lightAfter(1), lightAfter(239), lightAfter(1), lightAfter(9_999)];
		equal(lights, [100, DIMMED, DIMMED, 0, 0]);
	},
	"lets the screen of a board without a battery shine"() {
		equal(start({ battery: false }).lightAfter(99_999), 100);
	},
	"takes the times of the settings, in any order"() {
		equal(start({ built: { screenDim: 0, screenOff: 20 } }).lightAfter(20), 0);
		equal(start({ battery: false, built: { screenDim: "5", screenOff: 0 } }).lightAfter(9_999), DIMMED);
		const { lightAfter } = start({ built: { screenDim: 30, screenOff: 10 } });
		equal([lightAfter(10), lightAfter(30)], [0, 0]);
	},
	"reports the brightness that was chosen, also of a dimmed screen": given(start, ({ board, lightAfter }) => {
		const reported = [lightAfter(100), board.screen.brightness, board.settings.get("display", "brightness")];
		equal(reported, [DIMMED, 75, undefined]);
	}),
	"lights the screen at a press, and counts anew": given(start, ({ lightAfter, press, screen }) => {
		lightAfter(400);
		press("b41");
		equal([screen.light, lightAfter(59), lightAfter(1)], [100, 100, DIMMED]);
	}),
	"lights the screen for an alert and a sentence"() {
		for (const message of [
			{ type: "alert", status: "Hi", message: "there" },
			{ type: "tts", state: "sentence_start", text: "Hello" },
		]) {
			const { say, screen } = darkInSession();
			say(message);
			equal(screen.light, 100, JSON.stringify(message));
		}
	},
	"lights the screen for a call that changes what is shown, and for no other"() {
		const call = (name: string, args: object = {}): object => request(7, "tools/call", { name, arguments: args });
		const light = (message: object): number => {
			const { say, screen } = darkInSession();
			say(request(1, "initialize", { protocolVersion: "2024-11-05", capabilities: {} }));
			say(message);
			return screen.light;
		};
		equal(light(call("self.audio_speaker.set_volume", { volume: 10 })), 100);
		equal(light(call("self.screen.set_brightness", { brightness: 10 })), 100);
		equal(light(call("self.screen.set_theme", { theme: "dark" })), 100);
		equal(light(call("self.get_device_status")), 0);
	},
	"lights the screen while the assistant speaks, and counts from its end"() {
		const { lightAfter, say } = darkInSession();
		say({ type: "tts", state: "start" });
		equal(lightAfter(60), 100);
		say({ type: "tts", state: "stop" });
		equal([lightAfter(19), lightAfter(1)], [100, 0]);
	},
	"does not light the screen because the connection is lost"() {
		const { application, screen, board } = darkInSession();
		board.network.online = false;
		board.network.onChange?.();
		equal([screen.light, application.state], [0, "idle"]);
	},
	"sleeps when it was not used, and can be woken by the buttons whose pins can do that"() {
		const { chip, screen, timer, log } = start({ built: { sleepAfter: 600 } });
		timer.pass(599_999);
		equal(chip.slept, []);
		timer.pass(1);
		equal(chip.slept, [{ pins: [{ pin: 0, high: false }], seconds: 0 }]);
		equal([screen.light, log.at(-1)], [0, "deep sleep"]);
	},
	"counts from the last use until it sleeps"() {
		const { chip, press, timer } = start({ built: { sleepAfter: 10 } });
		timer.pass(9_000);
		press("b41");
		timer.pass(9_000);
		equal(chip.slept.length, 0);
		timer.pass(1_000);
		equal(chip.slept.length, 1);
	},
	"is woken by the timer alone where no button can"() {
		const { chip, timer } = start({ pins: [41], built: { sleepAfter: 10, wakeAfter: 3_600 } });
		timer.pass(10_000);
		equal(chip.slept, [{ pins: [], seconds: 3_600 }]);
	},
	"does not sleep where nothing would wake it"() {
		const { chip, log, timer } = start({ pins: [41], built: { sleepAfter: 10 } });
		timer.pass(10_000);
		equal(chip.slept, []);
		ok(log.includes("no deep sleep: no button can end it, and wakeAfter is 0"));
	},
	"does not sleep in a session, and does some time after its end"() {
		const { chip, press, greet, say, timer } = start({ built: { sleepAfter: 10 } });
		press();
		greet();
		timer.pass(5_000);
		press();
		timer.pass(60_000);
		equal(chip.slept.length, 0);
		say({ type: "goodbye", session_id: "s-1" });
		timer.pass(9_999);
		equal(chip.slept.length, 0);
		timer.pass(1);
		equal(chip.slept.length, 1);
	},
	"does not sleep while a part that keeps it awake is on"() {
		const kinds = PART_KINDS.filter(({ keepsAwake }) => keepsAwake);
		ok(kinds.length > 0);
		for (const { plural } of kinds) {
			const pump = { on: true, left: undefined, error: undefined, onChange: undefined, turn: () => {} };
			const { chip, timer, log } = start({ built: { sleepAfter: 10 }, parts: { [plural]: { pump } } });
			timer.pass(60_000);
			equal(chip.slept, [], plural);
			ok(log.includes("no deep sleep: pump is on"));
			pump.on = false;
			timer.pass(10_000);
			equal(chip.slept.length, 1, plural);
		}
	},
	"wakes for the next timer, and does not sleep when one is due soon"() {
		const due = (seconds: number): string => `${NOW + seconds * 1_000} tea`;
		const { chip, timer } = start({ built: { sleepAfter: 10, wakeAfter: 3_600 }, timers: [due(7_000), due(1_810)] });
		timer.pass(10_000);
		equal(chip.slept, [{ pins: [{ pin: 0, high: false }], seconds: 1_740 }]);
		const soon = start({ built: { sleepAfter: 10 }, timers: [due(40)] });
		soon.timer.pass(30_000);
		equal(soon.chip.slept, []);
		ok(soon.log.includes("no deep sleep: a timer is due in 30 seconds"));
	},
	"sleeps for an hour when its battery is low, also in a session, unless it is charged"() {
		for (const [level, charging, slept] of [
			[5, false, 0],
			[4, false, 1],
			[4, true, 0],
		] as const) {
			const { board, chip, greet, timer, log } = start({ built: { session: "always", sleepBelow: 5 } });
			greet();
			Object.assign(board.battery, { level, charging });
			timer.pass(60_000);
			equal(chip.slept.length, slept, `${level} ${charging}`);
			if (slept > 0) {
				equal(chip.slept[0]?.seconds, 3_600);
				ok(log.includes("battery at 4 %: deep sleep for 3600 s"));
			}
		}
	},
	"does not sleep while a rule needs the time, a sensor or a serial line"() {
		const ruleBook = { awake: "water" as string | undefined };
		const parts = { ruleBook } as PartsByKind;
		const { chip, timer, log } = start({ built: { sleepAfter: 10 }, parts });
		timer.pass(10_000);
		ok(log.includes("no deep sleep: water needs the clock, a sensor or a serial line"));
		ruleBook.awake = undefined;
		timer.pass(10_000);
		equal(chip.slept.length, 1);
	},
	"does not sleep by default, and not while its firmware is on trial": given(start, (byDefault) => {
		const onTrial = start({ isOnTrial: true, built: { sleepAfter: 10 } });
		onTrial.timer.pass(60_000);
		Object.assign(byDefault.board.battery, { level: 0, charging: false });
		byDefault.timer.pass(9_999_000);
		equal([byDefault.chip.slept, onTrial.chip.slept], [[], []]);
	}),
	"goes on where the chip does not take what it is told"() {
		const chip = new FakeChipPower();
		chip.fails = true;
		const { application, log, timer } = start({ chip, built: { sleepAfter: 10, wifiPowerSave: "max" } });
		timer.pass(10_000);
		ok(log.includes('Wi-Fi power save "max": Error: not taken by the Wi-Fi'));
		equal([log.at(-1), application.state], ["no deep sleep: Error: the pin cannot wake the chip", "idle"]);
	},
	"saves the Wi-Fi's power as the setting says"() {
		equal([start().chip.modes, start({ built: { wifiPowerSave: "off" } }).chip.modes], [["min"], ["off"]]);
	},
	"dims the backlight, and keeps the chosen brightness"() {
		const backlight = { brightness: 0 };
		const { screen: lit } = makeFace({ backlight });
		lit.brightness = 2;
		lit.light = DIMMED;
		equal([backlight.brightness, lit.brightness, lit.light], [1, 2, DIMMED]);
		lit.light = 0;
		lit.brightness = 100;
		equal([backlight.brightness, lit.brightness], [0, 100]);
	},
	"draws nothing while the backlight is off, and all of it once it is on"() {
		const { canvas, timer, screen } = makeFace({ backlight: { brightness: 0 } });
		screen.light = 0;
		screen.show({ words: LANGUAGES.en, state: "listening" });
		timer.pass(100_000);
		equal(canvas.pixels, 0);
		screen.light = 100;
		timer.pass(100);
		equal(canvas.pixels, canvas.width * canvas.height);
		ok(canvas.texts.some(({ text }) => text === "Listening"));
	},
	"darkens the colours of a screen without a backlight, and keeps the chosen brightness"() {
		const { canvas, timer, screen: drawn } = makeFace();
		const background = (light: number): string | undefined => {
			drawn.light = light;
			canvas.forget();
			timer.pass(100);
			return canvas.rectangles[0]?.color;
		};
		ok(background(100) !== background(DIMMED));
		equal(drawn.brightness, 75);
	},
});
