import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import type { BoardData } from "xs-mcp-firmware/hardware/board-data";
import { relay, serial } from "xs-mcp-firmware/hardware/parts/index";
import { profileOf, readOwnDevice } from "xs-mcp-virtual-device";
import { readSteps } from "../../../host-test/support/guide.js";
import { noSdk, sdk } from "../../../host-test/support/sdk.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { boardManifest } from "../src/build/board-manifest.js";
import { targetFiles } from "../src/build/board-target.js";
import { checkDevice, checkTarget } from "../src/build/check-board.js";
import { fromProject } from "../src/build/manifests.js";
import { linkForChip, prepareTarget } from "../src/moddable/mcconfig.js";
import { findTarget, type Sdk } from "../src/moddable/sdk.js";
import { ROOT } from "../src/root.js";

const SPI = { data: 47, clock: 21 };

const DISPLAY = { driver: "st7789", width: 240, height: 240, spi: SPI, dc: 40 };

const PARAMETERS = Array.from({ length: 18 }, () => 0);

/** Pins of a camera on an ESP32. */
const CAMERA = { data: [5, 18, 19, 21, 4, 2, 12, 13], xclk: 0, pclk: 22, href: 23, vsync: 25, sda: 26, scl: 27 };

const HEAD = {
	transmit: 6,
	receive: 7,
	yaw: { id: 1, zero: 460, min: -128, max: 128 },
	pitch: { id: 2, zero: 620, min: 5, max: 85 },
} as const;

/** Members of a board with an ESP32-S3, and the error in them. */
const MISTAKES: readonly (readonly [what: string, board: object, message: string])[] = [
	["a member that does not exist", { buttns: { boot: 0 } }, "board.buttns: unknown member, expected title, "],
	[
		"a member with a small letter",
		{ display: { ...DISPLAY, backLight: 1 } },
		"board.display.backLight: unknown member, ",
	],
	[
		"an unknown chip",
		{ chip: "esp32s4" },
		'board.chip: unknown "esp32s4", expected esp32, esp32s2, esp32s3, esp32c3, esp32c6; did you mean',
	],
	[
		"an ESP32-P4",
		{ chip: "esp32p4" },
		"board.chip: esp32p4 cannot be used: it has no radio, and SDK 8.2.3 has no build for it",
	],
	[
		"an ESP32-C5",
		{ chip: "esp32c5" },
		"board.chip: esp32c5 cannot be used: SDK 8.2.3 has no build for it: it needs an SDK with xsProj-esp32c5",
	],
	["an ESP32-C61", { chip: "esp32c61" }, "board.chip: esp32c61 cannot be used: SDK 8.2.3 has no build for it"],
	["no chip", { chip: undefined }, "board.chip: missing: expected esp32, "],
	[
		"an unknown driver",
		{ display: { ...DISPLAY, driver: "st7798" } },
		'board.display.driver: unknown "st7798", expected ili9341, st7789',
	],
	[
		"a monochrome display",
		{ display: { ...DISPLAY, driver: "ssd1306" } },
		"board.display.driver: ssd1306 cannot be used: it is monochrome",
	],
	["a display without a size", { display: { ...DISPLAY, width: undefined } }, "board.display.width: missing"],
	["a display without a driver", { display: { ...DISPLAY, driver: undefined } }, "board.display.driver: missing"],
	[
		"a display without its bus",
		{ display: { ...DISPLAY, spi: undefined } },
		"board.display.spi: missing: st7789 is on this bus",
	],
	[
		"a pin of the flash",
		{ leds: { lamp: { pin: 27 } } },
		"board.leds.lamp: pin 27 is connected to the flash of the ESP32-S3",
	],
	["a pin that the chip lacks", { buttons: { boot: 24 } }, "board.buttons.boot: pin 24 does not exist on the ESP32-S3"],
	[
		"a pin of the PSRAM",
		{ psram: "8MB octal", leds: { lamp: { neopixel: 35 } } },
		"board.leds.lamp: pin 35 is in use by psram",
	],
	[
		"two parts on one pin",
		{ buttons: { boot: 0 }, leds: { lamp: { pin: 0 } } },
		"board.leds.lamp: pin 0 is in use by buttons.boot",
	],
	[
		"an output on an input",
		{ chip: "esp32", leds: { lamp: { pin: 34 } } },
		"board.leds.lamp: pin 34 of the ESP32 is only an input",
	],
	[
		"GPIO 0 as a clock",
		{ speaker: { i2s: { clock: 0, word: 1, data: 2 } } },
		"board.speaker.i2s.clock: GPIO 0 cannot be the clock",
	],
	[
		"an ES7210 without the master clock",
		{
			psram: "8MB octal",
			i2c: { data: 8, clock: 9 },
			microphone: { codec: "es7210", i2s: { clock: 5, word: 4, data: 6 } },
		},
		"board.microphone.i2s.main: missing: the es7210 needs the board's master clock",
	],
	[
		"a command with 17 parameters",
		{ display: { ...DISPLAY, registers: [PARAMETERS] } },
		"board.display.registers[0]: expected a command with at most 16 parameters, got 17",
	],
	[
		"a delay that is too long",
		{ display: { ...DISPLAY, registers: [{ delay: 300 }] } },
		"board.display.registers[0].delay: expected a whole number from 1 to 255, got 300",
	],
	["PSRAM of another chip", { chip: "esp32c3", psram: "8MB octal" }, "board.psram: the esp32c3 has none"],
	[
		"a power chip's register without its value",
		{ i2c: { data: 8, clock: 9 }, power: { driver: "axp2101", registers: "2206 27" } },
		"board.power.registers: expected registers with values, two hexadecimal digits each",
	],
	["a camera without its clock", { camera: { data: [1, 2, 3, 4, 5, 6, 7, 8] } }, "board.camera.xclk: missing"],
	[
		"a camera of a preset without one",
		{ camera: { pinsOf: "m5dial" } },
		'board.camera.pinsOf: unknown "m5dial", expected ',
	],
	["Ethernet of an ESP32-S3", { ethernet: { address: 0, mdc: 23, mdio: 18 } }, "board.ethernet: the esp32s3 has none"],
	[
		"a button at Ethernet's clock",
		{ chip: "esp32", ethernet: { address: 0, mdc: 23, mdio: 18 }, buttons: { boot: 0 } },
		"board.buttons.boot: pin 0 is in use by ethernet",
	],
	["a touch screen without a bus", { touch: { driver: "gt911" } }, "board.i2c: missing"],
	[
		"an unknown target",
		{ chip: undefined, extends: "m5dail" },
		'board.extends: unknown target "m5dail"; did you mean m5dial?',
	],
	[
		"a preset that is no target of the SDK",
		{ chip: undefined, extends: "esp32_s3_box_3" },
		'board.extends: unknown target "esp32_s3_box_3"; ',
	],
	[
		"a target with its folder",
		{ chip: undefined, extends: "esp32/m5dial" },
		'board.extends: unknown target "esp32/m5dial"; did you mean m5dial?',
	],
	["a target that is no text", { chip: undefined, extends: 5 }, "board.extends: expected a text, got 5"],
	[
		"another chip than the target's",
		{ chip: "esp32c3", extends: "m5stack_cores3" },
		"board.chip: m5stack_cores3 has an esp32s3",
	],
	[
		"an output that an expander lacks",
		{ i2c: { data: 8, clock: 9 }, expander: { driver: "tca9554", outputs: { 7: 1, 8: 1 } } },
		"board.expander.outputs.8: expected a whole number from 0 to 7, got 8",
	],
	[
		"an expander's output that is no number",
		{ i2c: { data: 8, clock: 9 }, expander: { driver: "tca9555", outputs: { 15: 0, P0: 1 } } },
		'board.expander.outputs.P0: expected a whole number from 0 to 15, got "P0"',
	],
	["an output that is no pin", { outputs: { "0x5": 1 } }, 'board.outputs.0x5: expected the number of a pin, got "0x5"'],
	["an output without a name", { outputs: { "": 0 } }, 'board.outputs.: expected the number of a pin, got ""'],
	["an array of outputs", { outputs: [1] }, "board.outputs: expected an object, got [1]"],
	["an array of buttons", { buttons: [0] }, "board.buttons: expected an object, got [0]"],
	["an array of LEDs", { leds: [{ pin: 1 }] }, "board.leds: expected an object, got "],
	["a note that is no text", { note: {} }, "board.note: expected a text, got {}"],
	[
		"one pin twice in a display",
		{ display: { ...DISPLAY, dc: 47 } },
		"board.display.dc: pin 47 is in use by display.spi.data",
	],
	[
		"one pin twice in a list",
		{ pins: { "SD card": [4, 4] } },
		"board.pins.SD card.1: pin 4 is in use by pins.SD card.0",
	],
	[
		"data of the speaker and of the microphone on one pin",
		{
			speaker: { i2s: { clock: 1, word: 2, data: 3 } },
			microphone: { i2s: { clock: 1, word: 2, data: 3 } },
		},
		"board.microphone.i2s.data: pin 3 is in use by speaker.i2s.data",
	],
	[
		"clock and word of the speaker exchanged at the microphone",
		{
			speaker: { i2s: { clock: 1, word: 2, data: 3 } },
			microphone: { i2s: { clock: 2, word: 1, data: 4 } },
		},
		"board.microphone.i2s.clock: pin 2 is in use by speaker.i2s.word",
	],
	[
		"a speaker at a pin of the camera",
		{ speaker: { i2s: { clock: 1, word: 2, data: 4 } }, camera: { pinsOf: "esp32_s3_eye" } },
		"board.camera.sda: pin 4 is in use by speaker.i2s.data",
	],
	...(
		[
			["ethernet.mdc", 35, { ethernet: { address: 0, mdc: 35, mdio: 18 } }],
			["ethernet.mdio", 34, { ethernet: { address: 0, mdc: 23, mdio: 34 } }],
			["camera.xclk", 34, { camera: { ...CAMERA, xclk: 34 } }],
			["camera.sda", 39, { camera: { ...CAMERA, sda: 39 } }],
			["camera.scl", 36, { camera: { ...CAMERA, scl: 36 } }],
			["touch.reset", 35, { i2c: { data: 21, clock: 22 }, touch: { driver: "gt911", reset: 35 } }],
			["microphone.i2s.clock", 34, { microphone: { i2s: { clock: 34, word: 25, data: 35 } } }],
			["microphone.i2s.word", 35, { microphone: { i2s: { clock: 25, word: 35, data: 34 } } }],
		] as const
	).map(
		([member, pin, board]) =>
			[
				`an input as ${member}`,
				{ chip: "esp32", ...board },
				`board.${member}: pin ${pin} of the ESP32 is only an input`,
			] as const,
	),
	[
		"an input as head.transmit",
		{ chip: "esp32", head: { ...HEAD, transmit: 34, receive: 35 } },
		"board.head.transmit: pin 34 of the ESP32 is only an input",
	],
	["a head of a chip with two UARTs", { chip: "esp32c3", head: HEAD }, "board.head: the esp32c3 has no third UART"],
	[
		"a head's range from right to left",
		{ head: { ...HEAD, yaw: { ...HEAD.yaw, min: 128, max: -128 } } },
		"board.head.yaw.max: expected more than min, 128, got -128",
	],
	[
		"a head's angles that its servo does not reach",
		{ head: { ...HEAD, pitch: { ...HEAD.pitch, zero: 0, min: -90 } } },
		"board.head.pitch: expected min and max from 0 to 319 with zero 0, got -90 and 85",
	],
	[
		"two servos with one number",
		{ head: { ...HEAD, pitch: { ...HEAD.pitch, id: 1 } } },
		"board.head.pitch.id: expected another than that of yaw, 1",
	],
	["a touch sensor without a bus", { head: { ...HEAD, touch: "si12t" } }, "board.i2c: missing"],
	[
		"LEDs of an expander that the board lacks",
		{ leds: { body: { py32: 12 } } },
		"board.leds.body.py32: expected the expander py32",
	],
	[
		"an amplifier that no target's set-up opens",
		{ speaker: { codec: "aw88298", i2s: { clock: 5, word: 4, data: 6 } } },
		"board.speaker.codec: aw88298 is for boards that extend a target, whose set-up opens it",
	],
	[
		"an LED at a pin of the preset whose target it extends",
		{ chip: undefined, extends: "m5stack_cores3", leds: { lamp: { pin: 3 } } },
		"board.pins.screen.0: pin 3 is in use by leds.lamp",
	],
	[
		"LEDs with a colour twice",
		{ leds: { row: { neopixel: 48, order: "GGB" } } },
		'board.leds.row.order: expected three or four of R, G, B and W, got "GGB"',
	],
	[
		"slots of 32 bits with a codec",
		{
			i2c: { data: 8, clock: 9 },
			microphone: { codec: "es8311", bits: 32, i2s: { clock: 5, word: 4, data: 6 } },
		},
		"board.microphone.bits: the es8311 has slots of 16 bits",
	],
	...(["registers", "mirror", "swap", "invert", "bgr"] as const).map(
		(name) =>
			[
				`${name} of a CO5300`,
				{
					display: {
						driver: "co5300",
						width: 410,
						height: 502,
						qspi: { data: [4, 5, 6, 7], clock: 11 },
						...{ [name]: { registers: [[17]], mirror: "x", swap: true, invert: true, bgr: true }[name] },
					},
				},
				`board.display.${name}: the SDK's driver of the co5300 has none`,
			] as const,
	),
	[
		"a screen of another driver than the target's without its pin for data or command",
		{
			chip: undefined,
			extends: "m5dial",
			display: { driver: "st7789", width: 240, height: 240, spi: { data: 5, clock: 6 } },
		},
		"board.display.dc: missing",
	],
	[
		"a driver without its bus on a target of the SDK",
		{ chip: undefined, extends: "m5dial", display: { driver: "st7789", width: 240, height: 240 } },
		"board.display.spi: missing: st7789 is on this bus",
	],
];

/** A board like M5Stack's StackChan, with another head. */
const LIKE_STACKCHAN: BoardData = { extends: "m5stack_cores3", head: HEAD, pins: { fan: [9] } };

/** A project's folder with this device. */
function project(device: string): string {
	const folder = temporaryFolder("xs-mcp-board-");
	const include = ["manifest.json", "src/hardware/parts/manifest.json"].map((path) =>
		relative(folder, join(ROOT, path)),
	);
	const manifest = { build: { NAME: "xs-mcp" }, include, modules: { device: "./device" }, preload: "device" };
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
	writeFileSync(join(folder, "device.ts"), device);
	return folder;
}

const readBoard = async (folder: string) => await readOwnDevice(fromProject(join(folder, "manifest.json")));

describe("a board as data", () => {
	for (const [what, members, message] of MISTAKES) {
		it(`names the member that is wrong: ${what}`, () => {
			assert.throws(
				() => checkTarget({ chip: "esp32s3", ...members } as BoardData),
				(error: Error) => error.message.startsWith(message) || assert.equal(error.message, message),
			);
		});
	}

	it("names the board that is no object", () => {
		for (const board of [null, 5, true, ["esp32"]] as unknown as BoardData[]) {
			assert.throws(() => checkTarget(board), /^TypeError: board: expected an object with title, .*, got /);
		}
	});

	it("lets a speaker and a microphone share clocks, and a camera and a touch screen the bus", () => {
		const i2s = { clock: 5, word: 6, main: 7 };
		checkTarget({
			chip: "esp32",
			i2c: { data: 26, clock: 27 },
			touch: { driver: "gt911", i2c: { data: 26, clock: 27 } },
			camera: { ...CAMERA, data: [32, 18, 19, 21, 36, 39, 34, 35] },
		});
		checkTarget({
			chip: "esp32s3",
			speaker: { i2s: { ...i2s, data: 8 } },
			microphone: { i2s: { ...i2s, data: 9 } },
		});
	});

	it("records while it plays if its microphone has an I2S port and pins that the speaker does not use", () => {
		const speaker = { i2s: { clock: 1, word: 2, data: 3 } };
		const microphone = { i2s: { clock: 4, word: 5, data: 6 } };
		const pdm = { clock: 4, data: 5 };
		const pair = { chip: "esp32s3", psram: "8MB quad", speaker, microphone } as const;
		for (const [members, port, expected] of [
			[{}, 1, true],
			[{ chip: "esp32" }, 1, true],
			[{ chip: "esp32s2" }, 0, false],
			[{ psram: undefined }, 0, false],
			[{ microphone: { i2s: { ...microphone.i2s, word: 2 } } }, 0, false],
			[{ microphone: { pdm } }, 0, true],
			[{ microphone: { pdm }, chip: "esp32" }, 0, false],
			[{ microphone: { pdm }, speaker: { pdm: 1 } }, 0, false],
		] as const) {
			const board: BoardData = { ...pair, ...members };
			const files = targetFiles("", "board", board, "src");
			const { defines } = JSON.parse(files["manifest.json"] ?? "");
			const { config } = JSON.parse(files["board.json"] ?? "");
			assert.equal(defines.audioIn.i2s.num, port);
			assert.equal(config.board.microphone?.hasOwnPort === true, expected);
			assert.equal(profileOf(board).isFullDuplex === true, expected);
		}
	});

	it("has the parts, flash and pins of the preset whose target it extends", () => {
		checkTarget(LIKE_STACKCHAN);
		const { data } = findTarget({ root: "" } as Sdk, LIKE_STACKCHAN);
		const manifest = boardManifest("board", data ?? {}, "src", "sdkconfig") as {
			build: object;
			config: { chunkBytes: number; board: BoardData };
		};
		assert.deepEqual(manifest.build, {
			"GLYPHS ?=": "cjk",
			PARTITIONS_FILE: "$(PARTITIONS)/16mb.csv",
			SDKCONFIGPATH: "sdkconfig",
		});
		const { chunkBytes, board } = manifest.config;
		const power = { isOpen: true, backlight: true };
		assert.deepEqual([chunkBytes, board.head, board.touch, board.power], [262_144, HEAD, true, power]);
		const { screen, parts } = profileOf(LIKE_STACKCHAN);
		assert.deepEqual(screen, { width: 320, height: 240 });
		assert.ok(parts.includes("camera"));
	});

	it("refuses a part at a pin of the target that it extends", () => {
		for (const [pin, use] of [
			[35, "screen"],
			[9, "fan"],
		] as const) {
			assert.throws(
				() => checkDevice({ board: LIKE_STACKCHAN, parts: { pump: relay({ pin }) } }),
				new RegExp(`^DeviceError: part pump: pin ${pin} is in use by the ${use} of the board; `),
			);
		}
	});

	it("refuses a serial part on the UART of its head", () => {
		const scale = (port?: 2) => ({ board: LIKE_STACKCHAN, parts: { scale: serial({ rx: 8, ...(port && { port }) }) } });
		assert.throws(
			() => checkDevice(scale(2)),
			/^DeviceError: part scale: port 2 is in use by the servo bus of the board$/,
		);
		assert.deepEqual(checkDevice(scale()), []);
	});

	it("refuses two serial parts on one UART", () => {
		const parts = { gps: serial({ rx: 4 }), scale: serial({ rx: 5 }) };
		assert.throws(() => checkDevice({ board: undefined, parts }), /^DeviceError: part scale: port 1 is in use by gps$/);
		assert.deepEqual(checkDevice({ board: undefined, parts: { ...parts, scale: serial({ rx: 13, port: 2 }) } }), []);
	});

	it("refuses a part at a pin of the board", () => {
		const board: BoardData = { chip: "esp32s3", leds: { status: { neopixel: 48 } } };
		assert.throws(
			() => checkDevice({ board, parts: { pump: relay({ pin: 48 }) } }),
			/^DeviceError: part pump: pin 48 is in use by the LED status of the board; these would do: /,
		);
	});

	it("gives a virtual device its screen, buttons and LEDs, also turned", () => {
		const display = { width: 240, height: 135, rotation: 270 } as const;
		const profile = profileOf({ extends: "m5stick_c", display, buttons: { a: 37 }, leds: { led: { pin: 10 } } });
		assert.deepEqual(profile.screen, { width: 135, height: 240 });
		assert.deepEqual([profile.buttons, profile.lights], [["a"], ["led"]]);
	});

	it("is in docs/add-a-board.md as it works", async () => {
		const { text = "" } = readSteps("add-a-board.md").find(({ about }) => about === "device.ts") ?? {};
		const profile = (await readBoard(project(text)))?.profile;
		assert.deepEqual(profile?.screen, { width: 240, height: 240 });
		assert.deepEqual([profile?.buttons, profile?.lights], [["boot"], ["status"]]);
		const mistakes =
			readSteps("add-a-board.md")
				.find(({ kind }) => kind === "text")
				?.text.trim()
				.split("\n") ?? [];
		for (const [at, [from, to]] of [
			["st7789", "st7798"],
			["neopixel: 48", "neopixel: 33"],
		].entries()) {
			const wrong = project(text.replace(from as string, to as string));
			await assert.rejects(readBoard(wrong), ({ message }: Error) => message.endsWith(mistakes[at] ?? "?"));
		}
	});

	it("refuses a project in a folder with a space or a colon before anything is built", async () => {
		for (const name of ["my garden", "my:garden"]) {
			const folder = join(temporaryFolder("xs-mcp-board-"), name);
			mkdirSync(folder);
			writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { NAME: "garden" } }));
			await assert.rejects(linkForChip({ root: "/sdk", bin: "/sdk/bin" } as Sdk, folder, "esp32"), {
				message: `${folder}/build/moddable-linked/esp32: the SDK's makefiles cannot build in a path with spaces or colons: move the project`,
			});
		}
	});

	// The folder has capitals, which mcconfig would write in small letters.
	it("links with three sensors and a relay", { skip: noSdk }, async () => {
		const device = `import SHT3x from "embedded:sensor/Humidity-Temperature/SHT3x";
import TMP102 from "embedded:sensor/Temperature/TMP102";
import { analog, device, relay, sensor } from "xs-mcp";
const bus = { data: 8, clock: 9 };
export default device({
	board: { chip: "esp32s3", flash: "8MB", buttons: { boot: 0 }, leds: { status: { neopixel: 48 } } },
	parts: {
		air: sensor(SHT3x, { bus }),
		water: sensor(TMP102, { bus }),
		soil: analog({ pin: 4, kind: "moisture", unit: "%", from: [2900, 1200], to: [0, 100] }),
		pump: relay({ pin: 5 }),
	},
});
`;
		const folder = project(device);
		const board: BoardData = {
			chip: "esp32s3",
			flash: "8MB",
			buttons: { boot: 0 },
			leds: { status: { neopixel: 48 } },
		};
		const target = prepareTarget(sdk, findTarget(sdk, board), folder);
		assert.match(readFileSync(await linkForChip(sdk, folder, target), "utf8"), /SHT3x/);
	});
});
