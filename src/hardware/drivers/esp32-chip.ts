import { deepFreeze } from "../../core/text/deep-freeze.js";

/** ESP-IDF's numbers of a chip. */
export interface ChipNumbers {
	/** The model (esp_chip_model_t). */
	readonly model: number;
	readonly cores: number;
	/** Major revision times 100 plus minor. */
	readonly revision: number;
	/** Bits: CHIP_FEATURE_… of ESP-IDF. */
	readonly features: number;
	/** Bytes. */
	readonly flashSize: number;
	/** Bytes; 0 if the chip has no PSRAM. */
	readonly psramSize: number;
	/** The low-water mark of free system heap since the start, in bytes. */
	readonly minimumFreeHeap: number;
	/** The reason of the last reset (esp_reset_reason_t). */
	readonly resetReason: number;
}

/** ESP-IDF's data about the chip: `esp32-chip.c`, built for an ESP32 only. */
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
});
