import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { SystemInfo } from "../hardware.js";

/** ESP-IDF's numbers of a chip. Sizes are in bytes, features are bits: CHIP_FEATURE_… of ESP-IDF. */
export interface ChipNumbers
	extends NonNullable<SystemInfo["chip_info"]>,
		Required<Pick<SystemInfo, "flash_size" | "psram_size" | "minimum_free_heap_size">> {
	/** The reason of the last reset (esp_reset_reason_t). */
	readonly resetReason: number;
}

/** ESP-IDF's functions of the chip: `esp32-chip.c`, built for an ESP32 only. */
export const esp32Chip = deepFreeze({
	get numbers(): ChipNumbers {
		return native("xs_esp32chip_numbers").call(this) as ChipNumbers;
	},

	/** Degrees Celsius; undefined without a working sensor, such as on the first ESP32. */
	get temperature(): number | undefined {
		return native("xs_esp32chip_temperature").call(this) as number | undefined;
	},

	restart(): void {
		native("xs_esp32chip_restart").call(this);
	},

	/** Erases everything that is stored, and restarts. */
	factoryReset(): void {
		native("xs_esp32chip_factoryReset").call(this);
	},

	/** Whether the running firmware was installed by an update and is not confirmed. */
	get isOnTrial(): boolean {
		return native("xs_esp32chip_isOnTrial").call(this) as boolean;
	},

	/** The partition that the running firmware is in: "ota_0", "ota_1". */
	get label(): string {
		return native("xs_esp32chip_label").call(this) as string;
	},

	/** Confirms the running firmware. */
	confirm(): void {
		native("xs_esp32chip_confirm").call(this);
	},

	/** Restarts into the previous firmware. @throws Error without a previous firmware */
	rollBack(): void {
		native("xs_esp32chip_rollBack").call(this);
	},

	/** Sets the Wi-Fi's DNS server (IPv4), which the SDK's fixed address lacks. Does nothing if ESP-IDF rejects it. */
	setDns(address: string): void {
		native("xs_esp32chip_setDns").call(this, address);
	},
});
