import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BoardData, DisplayData, PanelStep } from "xs-mcp-firmware/hardware/board-data";
import { ROOT } from "../root.js";
import {
	boardManifest,
	cameraPins,
	featuresManifest,
	isFullDuplex,
	megabytesOf,
	targetFolder,
} from "./board-manifest.js";
import { chipOf } from "./check-board.js";
import { readJson } from "./program.js";

/** The only name of such targets: src/build/manifest_minimal.json and mcconfig.ts have it. */
const GENERATED = "generated";

/** Provider of a target: the pins and buses that parts ask for. */
const PROVIDER = `import Analog from "embedded:io/analog";
import Digital from "embedded:io/digital";
import DigitalBank from "embedded:io/digitalbank";
import I2C from "embedded:io/i2c";
import PWM from "embedded:io/pwm";
import Serial from "embedded:io/serial";
import SMBus from "embedded:io/smbus";
import SPI from "embedded:io/spi";

export default {
	I2C: { BUSES },
	io: { Analog, Digital, DigitalBank, I2C, PWM, Serial, SMBus, SPI },
};
`;

/** ESP-IDF's settings for PSRAM. By default its bus has four lines. */
const PSRAM = "SPIRAM=y SPIRAM_SPEED_80M=y SPIRAM_IGNORE_NOTFOUND=y";

/** ESP-IDF's settings of the ESP32's Ethernet, as in the SDK's targets. */
const ETHERNET =
	"ETH_ENABLED=y ETH_USE_ESP32_EMAC=y ETH_DMA_BUFFER_SIZE=512 ETH_DMA_RX_BUFFER_NUM=10 ETH_DMA_TX_BUFFER_NUM=10";

/** Files of ESP-IDF's settings, each with the firmware's own file that is appended to it. */
const SETTINGS: Readonly<Record<string, string>> = {
	"sdkconfig.defaults": "sdkconfig.defaults",
	"sdkconfig.defaults.release": "sdkconfig.defaults.release",
	"sdkconfig.inst": "sdkconfig.defaults.release",
};

interface SdkManifest {
	readonly build?: { readonly SDKCONFIGPATH?: string };
	readonly defines?: Readonly<Record<string, { readonly registers?: readonly string[] }>>;
}

const folderOf = (sdk: string, data: BoardData): string => join(sdk, "build/devices/esp32/targets", data.extends ?? "");

/** Returns the folder of the pins and buses that the SDK's target has; undefined if it has none. */
export function hostOf(sdk: string, data: BoardData): string | undefined {
	const host = join(folderOf(sdk, data), "host");
	return data.extends !== undefined && existsSync(host) ? host : undefined;
}

/**
 * Makes the files of a target, by their paths.
 *
 * @param sdk folder of Moddable's SDK
 * @param name of the board, for the identity of the firmware
 * @param src path of the firmware's folder `src`
 */
export function targetFiles(sdk: string, name: string, data: BoardData, src: string): Readonly<Record<string, string>> {
	const manifests = {
		"manifest.json": targetManifest(sdk, data),
		"board.json": boardManifest(name, data, src, "./sdkconfig"),
		"features.json": featuresManifest(data, src),
	};
	const bus = data.i2c ? `default: { io: I2C, data: ${data.i2c.data}, clock: ${data.i2c.clock} }` : "";
	return {
		...Object.fromEntries(
			Object.entries(manifests).map(([file, manifest]) => [file, `${JSON.stringify(manifest, undefined, "\t")}\n`]),
		),
		...(hostOf(sdk, data) === undefined && { "host/provider.js": PROVIDER.replace("BUSES", bus) }),
		...settingsFiles(sdk, data),
	};
}

/** ESP-IDF's settings: those of the SDK's target that the board extends, or of its flash and PSRAM, then the firmware's own. */
function settingsFiles(sdk: string, data: BoardData): Readonly<Record<string, string>> {
	const { build } = readTarget(sdk, data);
	const path = build?.SDKCONFIGPATH?.replace("$(MODDABLE)", sdk);
	const theirs = path === undefined ? undefined : resolve(folderOf(sdk, data), path);
	const { psram, ethernet } = data;
	// ESP-IDF takes the last option of a choice.
	const options = [
		`ESPTOOLPY_FLASHSIZE_${megabytesOf(data)}MB=y`,
		// Boards with an ESP32 may use the other pins for quad access otherwise.
		...(chipOf(data) === "esp32" ? ["ESPTOOLPY_FLASHMODE_DIO=y"] : []),
		...(ethernet === undefined ? [] : ETHERNET.split(" ")),
		...(psram === undefined ? [] : PSRAM.split(" ")),
		...(psram?.endsWith("octal") ? ["SPIRAM_MODE_OCT=y"] : []),
	];
	const lines = options.map((option) => `CONFIG_${option}\n`).join("");
	const read = (folder: string, file: string): string =>
		existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
	return Object.fromEntries(
		Object.entries(SETTINGS).flatMap(([name, file]) => {
			const ofChip = name === "sdkconfig.defaults" ? lines : "";
			const first = theirs === undefined ? ofChip : read(theirs, name);
			const own = read(join(ROOT, "src/hardware/boards/esp32/sdkconfig"), file).replaceAll(/^#.*\n/gm, "");
			// A log build without this file takes the settings of a release.
			return name === "sdkconfig.inst" && first === ""
				? []
				: [[`sdkconfig/${name}`, [first.trimEnd(), own].filter(Boolean).join("\n")]];
		}),
	);
}

function readTarget(sdk: string, data: BoardData): SdkManifest {
	const file = join(folderOf(sdk, data), "manifest.json");
	return data.extends === undefined || !existsSync(file) ? {} : readJson<SdkManifest>(file);
}

/** The target's own manifest: chip, drivers, and their pins as defines of C. */
function targetManifest(sdk: string, data: BoardData): object {
	const chip = chipOf(data);
	const { display, i2c, psram } = data;
	const isC3 = chip === "esp32c3";
	return {
		build: {
			SUBPLATFORM: GENERATED,
			...(chip !== "esp32" && { ESP32_SUBCLASS: chip }),
			...(data.extends === undefined && {
				// The workaround for early revisions of the ESP32.
				...(chip === "esp32" && psram !== undefined && { C_FLAGS_SUBPLATFORM: "-mfix-esp32-psram-cache-issue" }),
				USE_USB: ["esp32", "esp32s2"].includes(chip) ? "0" : "2",
			}),
		},
		include: [
			data.extends === undefined
				? "$(MODDABLE)/modules/io/manifest.json"
				: `${targetFolder(data.extends)}/manifest.json`,
			// The C of the SDK's SPI needs it.
			"$(MODULES)/pins/digital/manifest.json",
			...(display?.driver === undefined ? [] : [`$(MODDABLE)/modules/drivers/${display.driver}/manifest.json`]),
		],
		config: {
			...(data.extends !== undefined && { startupSound: false }),
			...(display?.driver !== undefined && {
				screen: display.driver,
				...(PARALLEL.test(display.driver) || display.driver === "co5300" ? { format: "RGB565BE" } : {}),
			}),
			...(display?.rotation !== undefined && { rotation: display.rotation }),
		},
		defines: {
			...(i2c && { i2c: { sda_pin: i2c.data, scl_pin: i2c.clock } }),
			...(display?.driver !== undefined && displayDefines(sdk, display)),
			...speakerDefines(data),
			...microphoneDefines(data),
			...cameraDefines(data),
			...ethernetDefines(data),
		},
		// The SDK's values for its targets.
		creation: {
			static: isC3 ? 94_208 : 0,
			chunk: isC3 ? { initial: 1_536, incremental: 512 } : { initial: 78_848, incremental: 0 },
			heap: isC3 ? { initial: 512, incremental: 64 } : { initial: 4_928, incremental: 0 },
			stack: isC3 ? 384 : 512,
		},
	};
}

/** Drivers of panels on eight data pins. */
const PARALLEL = /_p8$/;

/** Drops members that are not set: the SDK's C asks whether they are defined. */
const defined = (members: object): object =>
	Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

function displayDefines(sdk: string, display: DisplayData): object {
	const {
		driver = "",
		width,
		height,
		spi,
		parallel,
		qspi,
		dc,
		select,
		reset,
		offset: [column, row] = [0, 0],
	} = display;
	const common = { width, height, rst_pin: reset, column_offset: column, row_offset: row };
	if (qspi !== undefined) {
		const [data0_pin, data1_pin, data2_pin, data3_pin] = qspi.data;
		const pins = { cs_pin: select, sck_pin: qspi.clock, data0_pin, data1_pin, data2_pin, data3_pin };
		return { co5300: defined({ ...common, ...pins, spi_port: "SPI2_HOST" }) };
	}
	const registers = registersOf(sdk, display);
	if (parallel !== undefined) {
		const data = Object.fromEntries(parallel.data.map((pin, at) => [`data${at}_pin`, pin]));
		const pins = { dc_pin: dc, cs_pin: select, pclk_pin: parallel.write, read_pin: parallel.read };
		return { ili9341p8: defined({ ...common, ...data, ...pins, ...registers }) };
	}
	const hz = spi?.hz ?? (driver === "st7735" ? 27_000_000 : 40_000_000);
	return {
		spi: { mosi_pin: spi?.data, sck_pin: spi?.clock, miso_pin: -1 },
		ili9341: defined({
			...common,
			hz,
			spi_mode: spi?.mode ?? 0,
			spi_port: "SPI2_HOST",
			cs_pin: select ?? -1,
			dc_pin: dc,
			...registers,
		}),
	};
}

/** Bits of MADCTL. */
const MIRROR_Y = 0x80;
const MIRROR_X = 0x40;
const SWAP = 0x20;
const BGR = 0x08;

const hex = (value: number): string => `0x${value.toString(16).padStart(2, "0").toUpperCase()}`;

/** A step in the form of the SDK's C. The command 0xFF is a delay, unless 0x00 precedes it, which escapes a command. */
const stepText = (step: PanelStep): string =>
	"delay" in step
		? `kDelayMS, ${step.delay},`
		: `${step[0] === 0xff || step[0] === 0 ? "0x00, " : ""}${[hex(step[0] as number), step.length - 1, ...step.slice(1).map(hex)].join(", ")},`;

/** The initialization of a panel: the board's own, or the SDK's for the driver with the board's direction and colours. */
function registersOf(sdk: string, display: DisplayData): object {
	const { driver = "", registers, invert, mirror = "", swap, bgr } = display;
	if (registers !== undefined) {
		return { registers: [...registers.map(stepText), "kDelayMS, 0"] };
	}
	const isDefault = [invert, display.mirror, swap, bgr].every((each) => each === undefined);
	const { defines = {} } = readJson<SdkManifest>(join(sdk, "modules/drivers", driver, "manifest.json"));
	const table = (defines.ili9341 ?? defines.ili9341p8)?.registers;
	if (isDefault) {
		return {};
	}
	// The table of the ILI9341 is in its C: MADCTL 0x48. GC9A01's, 0x48, is an expression.
	const found = /0x36, 1, (0x[0-9A-F]+),/i.exec(table?.join(" ") ?? "")?.[1];
	const before = found === undefined ? MIRROR_X | BGR : Number(found);
	const turned = (mirror.includes("y") ? MIRROR_Y : 0) | (mirror.includes("x") ? MIRROR_X : 0) | (swap ? SWAP : 0);
	const isTurned = display.mirror !== undefined || swap !== undefined;
	const direction = (isTurned ? turned : before & 0xe0) | ((bgr ?? (before & BGR) !== 0) ? BGR : 0);
	const last = [`0x36, 1, ${hex(direction)},`, ...(invert === undefined ? [] : [`${invert ? "0x21" : "0x20"}, 0,`])];
	return table === undefined
		? { registers_append: last }
		: {
				registers: [
					...table.filter((line) => !/^\s*(0x36, 1,|(0xff|kDelayMS), 0,?$)/i.test(line)),
					...last,
					"kDelayMS, 0",
				],
			};
}

function speakerDefines({ speaker }: BoardData): object {
	if (typeof speaker !== "object" || (speaker.i2s === undefined && speaker.pdm === undefined)) {
		return {};
	}
	const { i2s, pdm, enable } = speaker;
	const pins =
		i2s === undefined
			? { PDM: 1, PDM_PIN: pdm, bitsPerSample: 16 }
			: defined({
					bck_pin: i2s.clock,
					lr_pin: i2s.word,
					dataout_pin: i2s.data,
					mck_pin: i2s.main,
					bitsPerSample: 16,
					format_i2s: 1,
					slot: "I2S_STD_SLOT_BOTH",
				});
	const amplifier = enable === undefined ? {} : { amplifier: { power: enable } };
	return {
		audioOut: { bitsPerSample: 16, numChannels: 1, sampleRate: 24_000, volume_divider: 1, ...amplifier, i2s: pins },
	};
}

/** Slots of 32 bits, in which many microphones send 24: the SDK's C sets 16 and has no define for it, but takes these statements. */
const WIDE_SLOT =
	"I2S_STD_SLOT_LEFT; rx_std_cfg.slot_cfg.slot_bit_width = I2S_SLOT_BIT_WIDTH_32BIT; rx_std_cfg.slot_cfg.ws_width = 32";

function microphoneDefines(data: BoardData): object {
	const { microphone } = data;
	if (typeof microphone !== "object" || (microphone.i2s === undefined && microphone.pdm === undefined)) {
		return {};
	}
	const { i2s, pdm, codec, bits = codec === undefined ? 32 : 16, gain } = microphone;
	const pins =
		i2s === undefined
			? { pdm: 1, lr_pin: pdm?.clock, datain: pdm?.data }
			: {
					bck_pin: i2s.clock,
					lr_pin: i2s.word,
					datain: i2s.data,
					mck_pin: i2s.main,
					format_i2s: 1,
					slot: bits === 32 ? WIDE_SLOT : "I2S_STD_SLOT_LEFT",
				};
	return {
		audioIn: {
			bitsPerSample: 16,
			sampleRate: 16_000,
			numChannels: 1,
			i2s: defined({ num: i2s && isFullDuplex(data) ? 1 : 0, ...pins, multiplier: gain }),
		},
	};
}

function ethernetDefines({ ethernet }: BoardData): object {
	if (ethernet === undefined) {
		return {};
	}
	const { address, mdc, mdio, power, reset = -1 } = ethernet;
	const internal = { phy: { address, reset, gpio0_clock_input: 1 }, mac: { mdc, mdio } };
	return { ethernet: { ...(power !== undefined && { power: { pin: power } }), internal } };
}

function cameraDefines(board: BoardData): object {
	const { data, powerDown, ...pins } = cameraPins(board);
	const bus = data?.map((pin, at) => [`d${at}`, pin]);
	return bus === undefined ? {} : { camera: defined({ ...Object.fromEntries(bus), ...pins, powerdown: powerDown }) };
}
