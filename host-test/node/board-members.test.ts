import assert from "node:assert/strict";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import type { Plugin } from "esbuild";
import { boardManifest } from "xs-mcp/build/board-manifest";
import { importBundle } from "xs-mcp/build/import-bundle";
import { ROOT } from "xs-mcp/root";
import type { BoardData, OpeningBoard, OpenMember } from "../../src/hardware/board-data.js";
import Axp2101 from "../../src/hardware/drivers/axp2101.js";
import { openOptional } from "../../src/hardware/drivers/open-optional.js";
import type { OpenCodecChip } from "../../src/hardware/drivers/register-speaker.js";
import type { Board } from "../../src/hardware/hardware.js";
import type { Button } from "../../src/hardware/kinds/button.js";
import type { Light } from "../../src/hardware/kinds/light.js";
import { FakeSettings } from "../doubles/fake-board.js";
import { fakeBus } from "../doubles/fake-bus.js";
import { FakeTimer } from "../doubles/fake-timer.js";

/** Globals of the firmware, and what the doubles of its modules read and write. */
const globals = globalThis as unknown as {
	modules: Record<string, (...args: unknown[]) => object>;
	device: object;
	board: object;
	port: object;
	timer: FakeTimer & { readonly delays: number[] };
};

/** Modules that need a chip. A player and a codec are the arguments that they were made with. */
const MODULES: Readonly<Record<string, string>> = {
	modules:
		"export default { get host() { return Object.keys(modules); }, has: (name) => name in modules, importNow: (name) => modules[name] };",
	"mc/config": "export default { Screen: class {}, get board() { return board; } };",
	timer:
		"export default { set: (...of) => timer.set(...of), repeat: (...of) => timer.repeat(...of), clear: (of) => timer.clear(of), delay: (of) => timer.delays.push(of) };",
	time: "export default { ticks: 0 };",
	"embedded:io/serial":
		"export default class { constructor(options) { globalThis.port = options; } write() {} read() {} close() {} };",
	"embedded:io/digital":
		"export default class { static Output = 8; constructor({ pin, mode }) { this.pin = pin; this.mode = mode; } write(level) { this.level = level; } };",
	"open-player": "export const openPlayer = (volume) => ({ volume });",
	"open-codec": "export default (...args) => args;",
	"open-face": "export const openFace = (_screen, backlight) => ({ backlight });",
};

/** Stands in for modules with parts of a chip that a board's own code opens. */
const CHIP_PARTS = `export const openEsp32 = () => ({ network: {} });`;

/** Modules that {@link CHIP_PARTS} stands in for, in the builds of whole boards. */
const IS_CHIP_PART = /open-esp32\.js$/;

const doubles: Plugin = {
	name: "doubles",
	setup(build) {
		build.onResolve({ filter: /(^[\w:/-]+|\/open-(player|codec|face)\.js)$/ }, ({ path, kind }) =>
			kind === "entry-point" ? undefined : { path: path.replace(/^\..*\/|\.js$/g, ""), namespace: "double" },
		);
		build.onLoad({ filter: /.*/, namespace: "double" }, ({ path }) => ({ contents: MODULES[path] as string }));
	},
};

/** Builds a whole board, whose parts of a chip are doubles, too. */
const wholeBoard: Plugin = {
	name: "whole-board",
	setup(build) {
		build.onResolve({ filter: IS_CHIP_PART }, () => ({ path: "chip-parts", namespace: "chip-parts" }));
		build.onLoad({ filter: /.*/, namespace: "chip-parts" }, () => ({ contents: CHIP_PARTS }));
		void doubles.setup(build);
	},
};

/** Opens a member of a board's data. */
async function open(member: string, data: BoardData, given: object = {}, SMBus: unknown = "SMBus") {
	const entry = join(ROOT, `src/hardware/drivers/open-${member}.ts`);
	const { default: opener } = await importBundle<{ readonly default: OpenMember }>(entry, doubles);
	globals.timer = Object.assign(new FakeTimer(), { delays: [] });
	globals.device = { I2C: { default: { data: 1, clock: 2 } }, io: { SMBus } };
	const lines: string[] = [];
	const log = (line: string): void => void lines.push(line);
	const opening: OpeningBoard = {
		data,
		board: given,
		source: { built: {}, settings: new FakeSettings() },
		log,
		setTime() {},
	};
	// The board opens its members this way.
	openOptional(log, member, () => opener(opening));
	return { board: opening.board as Record<string, object>, lines, log };
}

const BUS = { data: 1, clock: 2, io: "SMBus" };
const I2S = { clock: 5, word: 4, data: 6 };

const SERVO = { zero: 500, min: -90, max: 90 };
const HEAD = {
	transmit: 6,
	receive: 7,
	yaw: { id: 1, ...SERVO },
	pitch: { id: 2, ...SERVO },
	touch: "si12t",
} as const;

/** A board with every member that the firmware opens. */
const WHOLE_BOARD: BoardData = {
	psram: "8MB quad",
	display: { width: 320, height: 240 },
	touch: true,
	speaker: true,
	microphone: true,
	camera: {},
	buttons: { boot: 0 },
	leds: { led: { pin: 2 } },
	power: true,
	motion: true,
	light: "ltr553als",
	rtc: true,
	outputs: { 4: 1 },
	expander: { driver: "py32", outputs: { 0: 1 } },
	head: HEAD,
};

/** A chip that keeps its arguments, or does not answer. */
const chip =
	(error?: Error) =>
	(...args: unknown[]): object => {
		if (error !== undefined) {
			throw error;
		}
		return { args };
	};

/** An 8-bit PWM output as the SDK has it. Pin 9 is in use. @param written receives the values */
const pwmPin = (written: number[]) =>
	class {
		readonly resolution = 8;
		constructor({ pin }: { readonly pin: number }) {
			if (pin === 9) {
				throw new Error("pin in use");
			}
		}
		write(value: number): void {
			written.push(value);
		}
		close(): void {}
	} as unknown as (...args: unknown[]) => object;

/** The SDK's class of a touch sensor. @param open makes its method */
const touchSensor = (open: (options: object) => () => number[]) =>
	class {
		readonly sample: () => number[];
		constructor(options: object) {
			this.sample = open(options);
		}
		close(): void {}
	} as never;

describe("a board of data", () => {
	afterEach(() => {
		for (const name of ["modules", "device", "board", "port", "timer", "powerChip", "amp"]) {
			Reflect.deleteProperty(globalThis, name);
		}
	});

	it("sets the outputs that power other parts, and keeps them", async () => {
		const { board } = await open("outputs", { outputs: { 4: 1, 5: 0 } });
		assert.deepEqual(
			Object.values(board.outputs ?? {}).map((output) => ({ ...output })),
			[
				{ pin: 4, mode: 8, level: 1 },
				{ pin: 5, mode: 8, level: 0 },
			],
		);
	});

	it("opens a speaker without a codec chip, and its player sets the volume", async () => {
		const { board } = await open("speaker", { speaker: { i2s: I2S, volume: 40 } });
		assert.equal(board.speaker, board.player);
		assert.equal((board.player as { readonly volume: number }).volume, 40);
	});

	it("opens a speaker's codec chip, which sets the volume", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip() };
		const speaker = { codec: "es8311", address: 0x19, i2s: { ...I2S, main: 3 } } as const;
		const { board } = await open("speaker", { speaker });
		assert.deepEqual((board.speaker as { readonly args: unknown[] }).args, [BUS, 0x19, true, 70]);
		assert.equal((board.player as { readonly volume: number }).volume, 100);
	});

	it("opens the player alone if the codec chip does not answer", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip(new Error("no answer")) };
		const { board, lines } = await open("speaker", { speaker: { codec: "es8311", i2s: I2S } });
		assert.equal(board.speaker, board.player);
		assert.equal((board.player as { readonly volume: number }).volume, 70);
		assert.deepEqual(lines, ["codec chip not opened: Error: no answer"]);
	});

	it("opens a microphone's chip, and the codec of a board with a player", async () => {
		const started: unknown[][] = [];
		globals.modules = { "src/hardware/drivers/es7210": (...args) => ({ count: started.push(args) }) };
		const player = { volume: 70 };
		const microphone = { codec: "es7210", address: 0x41, i2s: I2S, channels: 1 } as const;
		const { board, log } = await open("microphone", { microphone }, { player });
		assert.deepEqual(board.codec, [player, log, 1, undefined]);
		assert.deepEqual(started, [[BUS, 0x41, false]]);
	});

	it("passes to the codec whether the microphone has an I2S port that the speaker does not use", async () => {
		const data = {
			chip: "esp32s3",
			psram: "8MB quad",
			speaker: { i2s: I2S },
			microphone: { pdm: { clock: 1, data: 2 } },
		};
		const { config } = boardManifest("board", data as BoardData, "src", "sdkconfig") as {
			config: { board: BoardData };
		};
		const { board, log } = await open("microphone", config.board, { player: {} });
		assert.deepEqual(board.codec, [{}, log, 2, true]);
	});

	it("opens no chip for a microphone that shares the speaker's, and no codec without a player", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip(new Error("opened twice")) };
		const both = { codec: "es8311", i2s: I2S } as const;
		const { board, lines } = await open("microphone", { speaker: both, microphone: both });
		assert.deepEqual([board, lines], [{}, []]);
	});

	it("opens LEDs of both kinds as lights, without one that fails", async () => {
		const opened: object[] = [];
		const written: number[] = [];
		globals.modules = {
			neopixel: class {
				constructor(options: object) {
					opened.push(options);
				}
				makeRGB(): void {}
				fill(): void {}
				update(): void {}
			} as never,
			"embedded:io/pwm": pwmPin(written),
		};
		const leds = {
			strip: { neopixel: 48, length: 8, order: "RGB" },
			status: { pin: 2, activeLow: true },
			bad: { pin: 9 },
		};
		const { board, lines } = await open("leds", { leds });
		const { strip, status, ...others } = board.lights as Record<string, Light>;
		assert.deepEqual([opened, others], [[{ pin: 48, length: 8, order: "RGB" }], {}]);
		assert.deepEqual([strip?.color, status?.color], [0xffffff, undefined]);
		Object.assign(status ?? {}, { on: true });
		assert.deepEqual(written, [255, 0]);
		assert.deepEqual(lines, ["LED bad not opened: Error: pin in use"]);
	});

	it("opens the backlight of a screen: on a pin, or that of the SDK's target", async () => {
		const written: number[] = [];
		globals.modules = { "embedded:io/pwm": pwmPin(written) };
		Object.assign(globals, {
			Host: {
				Backlight: class {
					write(percent: number): void {
						written.push(percent);
					}
				},
			},
		});
		const size = { width: 320, height: 240 };
		for (const backlight of [{ pin: 5, activeLow: true }, true] as const) {
			const { board } = await open("display", { display: { ...size, backlight } });
			const { backlight: light } = board.screen as { readonly backlight: { brightness: number } };
			light.brightness = 40;
			assert.equal(light.brightness, 40);
		}
		// At first it is off, then at full brightness.
		assert.deepEqual(written, [255, 0, 153, 40]);
	});

	it("opens LEDs at an expander", async () => {
		globals.modules = { "src/hardware/drivers/py32-light": chip() };
		const { board } = await open("leds", { leds: { body: { py32: 12 } } });
		assert.deepEqual((board.lights as { body?: { readonly args: unknown } }).body?.args, [BUS, 12]);
	});

	it("opens a head: its servos, its bus on the third UART, and its touch sensor as a button", async () => {
		let fields = [0, 0, 0];
		const options: unknown[] = [];
		const Si12T = touchSensor((each) => {
			options.push(each);
			return () => fields;
		});
		globals.modules = { "embedded:sensor/Touch/Si12T": Si12T };
		const { board, lines } = await open("head", { head: HEAD }, { buttons: { screen: {} } });
		assert.deepEqual(lines, []);
		assert.deepEqual(Object.keys(board.servos ?? {}), ["yaw", "pitch"]);
		assert.deepEqual(Object.keys(board.head ?? {}), ["check", "move", "lookAt", "gesture"]);
		const { onWritable, ...port } = globals.port as { readonly onWritable?: unknown };
		assert.deepEqual(port, { transmit: 6, receive: 7, port: 2, baud: 1_000_000, format: "buffer" });
		assert.equal(typeof onWritable, "function");
		assert.deepEqual(options, [{ sensor: BUS, sensitivityLevel: 3 }]);
		const { head, ...others } = board.buttons as Record<string, Button>;
		assert.deepEqual(others, { screen: {} });
		let presses = 0;
		Object.assign(head ?? {}, { onPress: () => (presses += 1) });
		for (const strength of [2, 0]) {
			fields = [0, strength, 0];
			globals.timer.pass(100);
		}
		assert.equal(presses, 1);
	});

	it("opens a head without a touch sensor that does not answer", async () => {
		const Si12T = touchSensor(() => {
			throw new Error("no answer");
		});
		globals.modules = { "embedded:sensor/Touch/Si12T": Si12T };
		const { board, lines } = await open("head", { head: HEAD });
		assert.deepEqual(Object.keys(board), ["servos", "head"]);
		assert.deepEqual(lines, ["touch sensor not opened: Error: no answer"]);
	});

	for (const [driver, delays] of [
		["py32", [200, 200, 200, 200, 200]],
		["tca9554", []],
	] as const) {
		it(`reports a ${driver} that does not answer, once`, async () => {
			const SMBus = class {
				writeUint8(): void {
					throw new Error("no answer");
				}
				close(): void {}
			};
			const { lines } = await open("expander", { expander: { driver, outputs: { 0: 1 } } }, {}, SMBus);
			assert.deepEqual(lines, ["expander not opened: Error: no answer"]);
			assert.deepEqual(globals.timer.delays, delays);
		});
	}

	it("starts without a member that cannot be opened, and reports it", async () => {
		const { config } = boardManifest("board", { touch: true, motion: true }, "src", "sdkconfig") as {
			config: { board: BoardData };
		};
		const opened: string[] = [];
		Object.assign(globals, {
			board: config.board,
			modules: {
				"src/hardware/drivers/open-touch": chip(new Error("no answer")),
				"src/hardware/drivers/open-motion": () => opened.push("motion"),
			},
		});
		const entry = join(ROOT, "src/hardware/boards/esp32/board.ts");
		const { openBoard } = await importBundle<{ openBoard(services: object): Board }>(entry, wholeBoard);
		const lines: string[] = [];
		openBoard({ log: (line: string) => lines.push(line) });
		assert.deepEqual([opened, lines], [["motion"], ["touch not opened: Error: no answer"]]);
	});

	it("opens every member that a manifest has", async () => {
		const { config } = boardManifest("board", WHOLE_BOARD, "src", "sdkconfig") as { config: { board: BoardData } };
		const members = Object.keys(config.board);
		const opened: string[] = [];
		Object.assign(globals, {
			board: config.board,
			modules: Object.fromEntries(
				members.map((member) => [`src/hardware/drivers/open-${member}`, () => opened.push(member) as never]),
			),
		});
		const entry = join(ROOT, "src/hardware/boards/esp32/board.ts");
		const { openBoard } = await importBundle<{ openBoard(services: object): object }>(entry, wholeBoard);
		openBoard({});
		assert.deepEqual(opened.sort(), members.sort());
	});

	it("takes power chip and amplifier from the set-up of the SDK's target", async () => {
		const { bus, memory } = fakeBus();
		memory.set("52/164", 80);
		new Axp2101({ sensor: bus, address: 0x34 });
		const { board } = await open("power", { power: { isOpen: true, backlight: true } });
		assert.equal((board.battery as { readonly level: number }).level, 80);
		Object.assign(globals, { amp: {} });
		const { default: openAw88298 } = await importBundle<{ readonly default: OpenCodecChip }>(
			join(ROOT, "src/hardware/drivers/aw88298.ts"),
			doubles,
		);
		const speaker = openAw88298({} as never, undefined, false, 70);
		speaker.volume = 100;
		assert.deepEqual((globals as unknown as { readonly amp: object }).amp, { volume: 256 });
	});
});
