import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BoardData } from "xs-mcp-firmware/hardware/board-data";
import { HEAD_UART } from "xs-mcp-firmware/hardware/head";
import type { DeviceDefinition } from "xs-mcp-firmware/hardware/parts/index";
import type { PinUse, UsedPin } from "xs-mcp-firmware/hardware/parts/part";
import { profileOf } from "xs-mcp-virtual-device/boards";
import { BOARD_BUS, boardPins, PRESETS, withBase } from "./board-manifest.js";
import { checkBoardData, reasonOf } from "./check-board-data.js";
import { CHIPS, type ChipPins } from "./chip-pins.js";
import { didYouMean, nearest } from "./suggest.js";

/** The target of a plain ESP32, and of a device without a board. Other targets are named after it. */
export const BARE_CHIP = "esp32";

/** Targets of docs/boards.csv: the bare chips, then the boards. */
export const TARGETS: readonly string[] = [
	BARE_CHIP,
	...["esp32c3", "esp32c6", "esp32s3", ...PRESETS.keys()].flatMap((name) =>
		name === BARE_CHIP ? [] : [`${BARE_CHIP}/${name}`],
	),
];

/** The targets of SDK 8.2.3 with Wi-Fi, without "esp32/", by ESP-IDF's names of their chips. */
const OF_SDK: Readonly<Record<string, readonly string[]>> = {
	esp32: (
		"esp32_st7789 esp32_thing esp32_thing_plus ethernet_kit heltec_lora_32 heltec_wifi_kit_32 lilygo_t5s lilygo_ttgo " +
		"m5atom_echo m5atom_lite m5atom_lite_echo_base m5atom_matrix m5atom_u m5core_ink m5paper m5stack m5stack_core2 " +
		"m5stack_fire m5stick_c m5stick_cplus moddable_display_2 moddable_two moddable_two_io moddable_two_io_v5 " +
		"moddable_zero nodemcu oddwires qemu saola_wrover wemos_oled_lolin32 wrover_kit wt32_eth01"
	).split(" "),
	esp32c3: (
		"esp32c3 esp32c3_cdc c3_32s_kit c3_32s_kit_2m c3_devkit_rust lolin_c3mini lolin_c3pico qtpyc3 qtpyc3_ili9341 " +
		"xiao_esp32c3 xiao_esp32c3_ili9341"
	).split(" "),
	esp32c6: "esp32c6 esp32c6_cdc esp32c6_gc9a01 m5nanoc6".split(" "),
	esp32s2: "kaluga lolin_s2mini qtpys2 qtpys2_ili9341 saola_wroom".split(" "),
	esp32s3: (
		"esp32s3 esp32s3_cdc esp32s3_usb feather_s3_tft lilygo_t_camera_plus_s3 lilygo_t_qt lilygo_tdisplay_s3 " +
		"m5atom_echo_s3r m5atom_s3 m5atom_s3_echo_base m5atom_s3_lite m5atom_s3r m5atom_s3r_cam m5atom_s3r_echo_base " +
		"m5atom_s3r_m12 m5dial m5stack_cores3 m5stamp_s3 moddable_display_6 moddable_six qtpys3 qtpys3_cdc " +
		"qtpys3_ili9341 waveshare_amoled_206 ws_esp32s3_touch_1_69 xiao_esp32s3 xiao_esp32s3_ili9341 xiao_esp32s3_sense"
	).split(" "),
};

/** A board as a device or a command names it, or as data. */
export type BoardName = string | BoardData | undefined;

/** The data of a board: a preset's, or that of a target of the SDK, of which only the chip is known. */
function dataOf(board: BoardName = BARE_CHIP): BoardData {
	const name = typeof board === "string" ? (board.split("/").at(-1) ?? "") : "";
	return typeof board === "object" ? withBase(board) : (PRESETS.get(name) ?? { extends: name });
}

/** Name of a board for errors. */
const titleOf = (board: BoardName = BARE_CHIP): string =>
	typeof board === "object" ? (board.title ?? "board") : (board.split("/").at(-1) ?? "");

/** The chip of a board, ESP-IDF's name: "esp32/lolin_s2mini" has an "esp32s2". That of a newer SDK's target is guessed. */
export function chipOf({ chip, extends: base = BARE_CHIP }: BoardData): string {
	const [known] = Object.entries(OF_SDK).find(([, boards]) => boards.includes(base)) ?? [];
	return chip ?? known ?? `${BARE_CHIP}${/s2|s3|c3|c6|h2/.exec(base)?.[0] ?? ""}`;
}

/** The chip of a named board, or of its data. @see chipOf */
export const chipOfBoard = (board: BoardName): string => chipOf(dataOf(board));

/** Whether the installed SDK has a target of this name. */
function isInstalled(name = ""): boolean {
	const { MODDABLE = "" } = process.env;
	return MODDABLE !== "" && /^\w+$/.test(name) && existsSync(join(MODDABLE, "build/devices/esp32/targets", name));
}

/** @throws TypeError if a board is neither a preset nor a target of SDK 8.2.3 or the installed one, or its data has a fault */
export function checkTarget(target: BoardName): void {
	if (target !== undefined && typeof target !== "string") {
		const base = target?.extends;
		checkBoardData(target, typeof base === "string" ? chipOf(target) : target?.chip);
		const known = Object.values(OF_SDK).flat();
		if (base !== undefined && !known.includes(base) && !isInstalled(base)) {
			const hint = didYouMean(base.split("/").at(-1) ?? "", known) || "; expected one of the SDK's";
			throw new TypeError(`board.extends: unknown target ${JSON.stringify(base)}${hint}`);
		}
		const [chip = chipOf(target)] = Object.entries(OF_SDK).find(([, names]) => names.includes(base ?? "")) ?? [];
		if (chipOf(target) !== chip) {
			throw new TypeError(`board.chip: ${base} has an ${chip}`);
		}
		const fault = pinFault(withBase(target));
		if (fault !== undefined) {
			throw new TypeError(fault);
		}
		return;
	}
	const targets = [...new Set([...Object.values(OF_SDK).flat(), ...PRESETS.keys()])];
	const [, board] = /^esp32\/(\w+)$/.exec(target ?? "") ?? [];
	const isKnown = target === undefined || target === BARE_CHIP || targets.includes(board ?? "");
	if (!isKnown && !isInstalled(board)) {
		throw new TypeError(`board: unknown target ${JSON.stringify(target)}. ${suggestTarget(target, targets)}`);
	}
}

/** Suggests a similar target, or else names the list of boards. @param boards names of targets, without "esp32/" */
export function suggestTarget(target: string, boards: readonly string[]): string {
	const board = target.split("/").at(-1)?.replace(/\W/g, "") ?? "";
	const similar = nearest(board, [BARE_CHIP, ...boards]);
	return similar === undefined
		? "npx xs-mcp boards lists the boards; other targets of the SDK are in $MODDABLE/build/devices/esp32/targets"
		: `Did you mean ${similar === BARE_CHIP ? similar : `${BARE_CHIP}/${similar}`}?`;
}

/** A device that cannot be built: the message names the part, the pin and what would work. */
export class DeviceError extends Error {
	override readonly name = "DeviceError";
}

/** Names of the parts that a board itself has, by the plural of their kind. */
export function namesOnBoard(board: BoardName): Readonly<Record<string, readonly string[]>> {
	const { buttons, lights, sensors, head } = profileOf(board);
	return { buttons, lights, sensors, servos: head === undefined ? [] : ["yaw", "pitch"] };
}

/**
 * Checks the parts of a device against its chip and its board.
 *
 * @param device its file is named in messages
 * @param target of the build. Default: the device's board
 * @returns warnings
 * @throws DeviceError that names each part with a name or a pin that it cannot have
 */
export function checkDevice(
	{ board, parts, file }: Pick<DeviceDefinition, "board" | "parts"> & { readonly file?: string },
	target: BoardName = board,
): readonly string[] {
	const inFile = (message: string): string => (file === undefined ? message : `${file}: ${message}`);
	const onBoard = Object.entries(namesOnBoard(target));
	const errors = Object.keys(parts).flatMap((name) => {
		const [place] = onBoard.find(([, names]) => names.includes(name)) ?? [];
		return place === undefined ? [] : [`part ${name}: the board has ${place} of this name: choose another name`];
	});
	const warnings: string[] = [];
	const { pins, errorOf, warningOf, hasHead } = pinsOf(target);
	const taken = Object.values(parts).flatMap((part) => part.pins.map(({ pin }) => pin));
	const users = new Map<number, { readonly name: string; readonly use: PinUse }>();
	for (const [name, part] of Object.entries(parts)) {
		for (const used of part.pins) {
			const { pin, use } = used;
			const user = users.get(pin);
			const other = user?.use === "bus" && use === "bus" ? undefined : user?.name;
			const error = errorOf(used) ?? (other && `is in use by ${other === name ? "this part already" : other}`);
			const warning = warningOf(pin);
			if (error !== undefined) {
				const isFree = (each: number): boolean =>
					!(taken.includes(each) || errorOf({ ...used, pin: each }) || warningOf(each));
				const free = pins?.filter(isFree).join(", ");
				const others = free === "" ? "; no other pin would do" : `; these would do: ${free}`;
				errors.push(`part ${name}: pin ${pin} ${error}${free === undefined ? "" : others}`);
			} else if (warning !== undefined) {
				warnings.push(`part ${name}: pin ${pin} ${warning}`);
			}
			users.set(pin, { name, use });
		}
	}
	const ports = new Map(hasHead ? [[HEAD_UART, `is in use by the servo bus of the ${titleOf(target)}`]] : []);
	for (const [name, { uart }] of Object.entries(parts)) {
		if (uart !== undefined) {
			const user = ports.get(uart);
			errors.push(...(user ? [`part ${name}: port ${uart} ${user}`] : []));
			ports.set(uart, `is in use by ${name}`);
		}
	}
	if (errors.length > 0) {
		throw new DeviceError(errors.map(inFile).join("\n"));
	}
	return warnings.map(inFile);
}

/** Returns the pins of a board's chip, if they are known, and functions for the error of a used pin and a pin's side effect. */
export function pinsOf(board: BoardName) {
	const data = dataOf(board);
	const chip = CHIPS[chipOfBoard(board)];
	const taken = boardPins(data, chipOfBoard(board));
	const unused = Object.entries(data.unusedPins ?? {});
	const partOf = (part: string): string => `the ${part} of the ${titleOf(board)}`;
	const unusedAt = (pin: number): string | undefined => unused.find(([, pins]) => pins.includes(pin))?.[0];
	return {
		pins: chip?.pins,
		hasHead: data.head !== undefined,
		errorOf(used: UsedPin): string | undefined {
			const part = taken.find(({ pin }) => pin === used.pin)?.part;
			if (part !== undefined && !(part === BOARD_BUS && used.use === "bus")) {
				return `is in use by ${partOf(part)}`;
			}
			// A module with a part of the board at a pin of the flash has its flash elsewhere, as the ESP32-PICO.
			return chip && errorOn(unusedAt(used.pin) === undefined ? chip : { ...chip, flash: [] }, used);
		},
		warningOf(pin: number): string | undefined {
			const part = unusedAt(pin);
			return part === undefined
				? chip && warningOn(chip, pin)
				: `is connected to ${partOf(part)}, which the firmware does not use`;
		},
	};
}

/**
 * Finds the first free pin without a side effect, from 4 on, because many boards have a bus or the log at lower ones.
 * If the board takes all of them, returns one with a side effect.
 */
export function freePinOf(target: string): number {
	const { pins = [], errorOf, warningOf } = pinsOf(target);
	const usable = pins.filter((pin) => errorOf({ pin, use: "output" }) === undefined);
	return usable.find((pin) => pin >= 4 && warningOf(pin) === undefined) ?? usable.at(-1) ?? 4;
}

/** Places of pins that the chip drives. */
const OUTPUTS =
	/^(display|i2c|speaker|ethernet|outputs|leds|head\.transmit|touch\.(reset|i2c)|microphone\.\w+\.(clock|word|main)|camera\.(xclk|sda|scl|powerDown|reset))\b/;

/** The place of a pin, the same for members that may share it: clocks of both directions of sound, and members of one bus. */
const roleOf = (path: string): string =>
	path
		.replace(/^(speaker|microphone)\.i2s\.(?!data)/, "i2s.")
		.replace(/^(touch\.i2c\.data|camera\.sda)$/, "i2c.data")
		.replace(/^(touch\.i2c\.clock|camera\.scl)$/, "i2c.clock");

/** Returns the error of a pin that the chip does not have, that it needs itself, or that two members of the board take. */
function pinFault(data: BoardData): string | undefined {
	const chip = CHIPS[chipOf(data)];
	const users = new Map<number, string>();
	for (const { part, path, pin } of boardPins(data, chipOf(data))) {
		const other = users.get(pin);
		// The SDK knows the wiring of its targets.
		const isKnown = part === "PSRAM" || data.extends !== undefined;
		const limits = chip && (isKnown ? { ...chip, flash: [], inputOnly: [] } : chip);
		const reason =
			(limits && errorOn(limits, { pin, use: OUTPUTS.test(path) ? "output" : "input" })) ??
			(other !== undefined && roleOf(other) !== roleOf(path) && `is in use by ${other}`);
		if (reason) {
			return `board.${path}: pin ${pin} ${reason}`;
		}
		users.set(pin, path);
	}
	return undefined;
}

/** Returns the reason if a chip's pin cannot be used this way. */
function errorOn(
	{ name, pins, flash, inputOnly, adc, adc2 }: ChipPins,
	{ pin, use, pull }: UsedPin,
): string | undefined {
	return reasonOf([
		[!pins.includes(pin), `does not exist on the ${name}`],
		[flash.includes(pin), `is connected to the flash of the ${name}`],
		[(use === "output" || use === "bus") && inputOnly.includes(pin), `of the ${name} is only an input`],
		[pull !== undefined && inputOnly.includes(pin), `of the ${name} has no resistor for pull: "${pull}"`],
		[use === "analog" && adc2.includes(pin), `of the ${name} cannot measure while the Wi-Fi is on`],
		[use === "analog" && !adc.includes(pin), `of the ${name} cannot measure a voltage`],
	]);
}

/** Returns the side effect of using a chip's pin. */
function warningOn({ name, strapping, psram, usb, serial }: ChipPins, pin: number): string | undefined {
	return reasonOf([
		[strapping.includes(pin), `decides how the ${name} starts: what is connected must leave it alone then`],
		[psram.includes(pin), `is connected to the flash or PSRAM in some modules with the ${name}`],
		[usb.includes(pin), `is the USB port of the ${name}, which then stops working`],
		[serial.includes(pin), `is the serial port of the ${name}, which has its log`],
	]);
}
