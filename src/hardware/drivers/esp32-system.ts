import type { System, SystemInfo, TimerModule } from "../hardware.js";
import type { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS, ESP32_RESET_REASONS } from "./esp32-models.js";

/** Describes the chip to the firmware. @param board the board's name */
export const esp32System = (
	chip: Pick<typeof esp32Chip, "numbers" | "label" | "restart" | "factoryReset">,
	macAddress: string,
	board: string,
	timer: TimerModule,
): System => ({
	macAddress,
	info(): SystemInfo {
		// XS knows only names that appear in its modules, so the members of the native result are named one by one.
		const { model, cores, revision, features, resetReason, flash_size, psram_size, minimum_free_heap_size } =
			chip.numbers;
		return {
			language: "en-US",
			flash_size,
			psram_size,
			minimum_free_heap_size,
			reset_reason: ESP32_RESET_REASONS[resetReason] ?? "unknown",
			chip_model_name: ESP32_MODELS[model]?.name ?? `model ${model}`,
			chip_info: { model, cores, revision, features },
			ota: { label: chip.label },
			board: { type: board, name: board },
		};
	},
	restart: (delay) => void timer.set(() => chip.restart(), delay),
	factoryReset: () => chip.factoryReset(),
});
