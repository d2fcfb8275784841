import { deepFreeze } from "../../core/text/deep-freeze.js";

/** ESP-IDF's data about the chip: `esp32-chip.c`, built for an ESP32 only. */
export const esp32Chip = deepFreeze({
	/** ESP-IDF's number for the model (esp_chip_model_t). */
	get model(): number {
		return native("xs_esp32chip_model").call(this) as number;
	},

	get cores(): number {
		return native("xs_esp32chip_cores").call(this) as number;
	},

	/** Major revision times 100 plus minor. */
	get revision(): number {
		return native("xs_esp32chip_revision").call(this) as number;
	},

	/** Bits: CHIP_FEATURE_… of ESP-IDF. */
	get features(): number {
		return native("xs_esp32chip_features").call(this) as number;
	},

	/** Bytes. */
	get flashSize(): number {
		return native("xs_esp32chip_flashSize").call(this) as number;
	},

	/** Bytes; 0 if the chip has no PSRAM. */
	get psramSize(): number {
		return native("xs_esp32chip_psramSize").call(this) as number;
	},

	/** The low-water mark of free system heap since the start, in bytes. */
	get minimumFreeHeap(): number {
		return native("xs_esp32chip_minimumFreeHeap").call(this) as number;
	},

	/** ESP-IDF's number for the reason of the last reset (esp_reset_reason_t). */
	get resetReason(): number {
		return native("xs_esp32chip_resetReason").call(this) as number;
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
