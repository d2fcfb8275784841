import { existsSync } from "node:fs";
import { join } from "node:path";
import { BOARD_BUS, profileOf } from "xs-mcp-virtual-device/boards";
import type { DeviceDefinition, Part } from "../../../../src/hardware/parts/index.js";
import { relay } from "../../../../src/hardware/parts/relay.js";
import { checkPins } from "./check-pins.js";
import { CHIPS } from "./chip-pins.js";
import { nearest } from "./suggest.js";

/** The target of a plain ESP32, and of a device without a board. Other targets are named after it. */
export const BARE_CHIP = "esp32";

/** The targets of SDK 8.2.3 with Wi-Fi, without "esp32/", by ESP-IDF's names of their chips. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
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

/** The chip of a target, ESP-IDF's name: "esp32/lolin_s2mini" has an "esp32s2". That of a newer SDK's is guessed. */
export function chipOfBoard(target: string = BARE_CHIP): string {
	const board = target.split("/").at(-1) ?? "";
	const [known] = Object.entries(TARGETS).find(([, boards]) => boards.includes(board)) ?? [];
	return known ?? `${BARE_CHIP}${/s2|s3|c3|c6|h2/.exec(board)?.[0] ?? ""}`;
}

/** @throws TypeError if neither SDK 8.2.3 nor the installed one has a target of this name */
export function checkTarget(target: string | undefined): void {
	const targets = Object.values(TARGETS).flat();
	const [, board] = /^esp32\/(\w+)$/.exec(target ?? "") ?? [];
	const folder = join(process.env.MODDABLE ?? "", "build/devices/esp32/targets", board ?? "");
	const isKnown = target === undefined || target === BARE_CHIP || targets.includes(board ?? "");
	if (!isKnown && !(board !== undefined && process.env.MODDABLE && existsSync(folder))) {
		throw new TypeError(`board: unknown target ${JSON.stringify(target)}. ${suggestTarget(target, targets)}`);
	}
}

/** Names the target that is meant, or the place of the list. @param boards names of targets, without "esp32/" */
export function suggestTarget(target: string, boards: readonly string[]): string {
	const board = target.split("/").at(-1)?.replace(/\W/g, "") ?? "";
	const similar = nearest(board, [BARE_CHIP, ...boards]);
	return similar === undefined
		? "docs/boards.md lists the boards; other targets of the SDK are in $MODDABLE/build/devices/esp32/targets"
		: `Did you mean ${similar === BARE_CHIP ? similar : `${BARE_CHIP}/${similar}`}?`;
}

/** A device that cannot be built: the message names the part, the pin and what would do. */
export class DeviceError extends Error {
	override readonly name = "DeviceError";
}

/**
 * Checks the pins of a device against its chip and its board.
 *
 * @param target of the build. Default: the device's board
 * @returns warnings
 * @throws DeviceError that names each part with a pin that cannot be used
 */
export function checkDevice(
	{ board, parts }: Pick<DeviceDefinition, "board" | "parts">,
	target = board,
): readonly string[] {
	const { errors, warnings } = checkOn(target, parts);
	if (errors.length > 0) {
		throw new DeviceError(errors.join("\n"));
	}
	return warnings;
}

/** The first pin from 4 on that the chip and the board have for anything: the lower ones have a bus or the log on many boards. */
export function freePinOf(target: string): number {
	const { pins = [] } = CHIPS[chipOfBoard(target)] ?? {};
	const isFree = (pin: number): boolean => {
		const { errors, warnings } = checkOn(target, { part: relay({ pin }) });
		return errors.length + warnings.length === 0;
	};
	return pins.find((pin) => pin >= 4 && isFree(pin)) ?? 4;
}

function checkOn(target: string | undefined, parts: Readonly<Record<string, Part>>): ReturnType<typeof checkPins> {
	const { name, pins = {}, unusedPins = {} } = profileOf(target);
	const partAt = (pin: number, table: Readonly<Record<string, readonly number[]>>): string | undefined =>
		Object.keys(table).find((part) => table[part]?.includes(pin));
	return checkPins(
		parts,
		chipOfBoard(target),
		({ pin, use }) => {
			const part = partAt(pin, pins);
			return part === undefined || (part === BOARD_BUS && use === "bus") ? undefined : `has the ${part} of the ${name}`;
		},
		({ pin }) => {
			const part = partAt(pin, unusedPins);
			return part && `has the ${part} of the ${name}, which the firmware does not use`;
		},
	);
}
