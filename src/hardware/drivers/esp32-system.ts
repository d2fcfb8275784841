import type { System, SystemInfo, Thermometer, TimerModule } from "../hardware.js";
import type { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS, ESP32_RESET_REASONS } from "./esp32-models.js";

/**
 * The chip, as the firmware sees it.
 *
 * @param board the board's name
 * @param partition the one that the firmware runs in
 */
export const esp32System = (
	chip: typeof esp32Chip,
	macAddress: string,
	board: string,
	partition: string,
	timer: TimerModule,
): System => ({
	macAddress,
	info(): SystemInfo {
		const { model, cores, revision, features, flashSize, psramSize, minimumFreeHeap, resetReason } = chip.numbers;
		return {
			language: "en-US",
			flash_size: flashSize,
			psram_size: psramSize,
			minimum_free_heap_size: minimumFreeHeap,
			reset_reason: ESP32_RESET_REASONS[resetReason] ?? "unknown",
			chip_model_name: ESP32_MODELS[model]?.name ?? `model ${model}`,
			chip_info: { model, cores, revision, features },
			ota: { label: partition },
			board: { type: board, name: board },
		};
	},
	restart: (delay) => void timer.set(() => chip.restart(), delay),
	factoryReset: () => chip.factoryReset(),
});

/** The chip's own thermometer; undefined on a chip that has none, such as the first ESP32. */
export const chipThermometer = (chip: Pick<typeof esp32Chip, "temperature">): Thermometer | undefined => {
	if (chip.temperature === undefined) {
		return undefined;
	}
	return {
		get temperature(): number {
			const { temperature } = chip;
			if (temperature === undefined) {
				throw new Error("the chip's thermometer does not answer");
			}
			return temperature;
		},
	};
};
