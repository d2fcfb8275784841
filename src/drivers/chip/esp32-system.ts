import type { System, SystemInfo, Thermometer } from "../../hardware/hardware.js";
import type { TimerModule } from "../../hardware/timer.js";
import { deepFreeze } from "../../text/deep-freeze.js";

/** ESP-IDF's data about the chip: `esp32Chip`. */
export interface Chip {
	readonly model: number;
	readonly cores: number;
	readonly revision: number;
	readonly features: number;
	readonly flashSize: number;
	readonly psramSize: number;
	readonly minimumFreeHeap: number;
	/** Degrees Celsius; undefined on a chip without a sensor. */
	readonly temperature: number | undefined;
}

interface Esp32SystemOptions {
	readonly chip: Chip;
	readonly macAddress: string;
	/** The board's name. */
	readonly board: string;
	/** The partition that the firmware runs in. */
	readonly partition: string;
	/** Restarts the chip at once. */
	readonly restart: () => void;
	readonly timer: TimerModule;
}

/** ESP-IDF's numbers for its chips (esp_chip_model_t). */
const MODELS: Readonly<Record<number, string>> = deepFreeze({
	1: "esp32",
	2: "esp32s2",
	5: "esp32c3",
	9: "esp32s3",
	12: "esp32c2",
	13: "esp32c6",
	16: "esp32h2",
	18: "esp32p4",
	20: "esp32c61",
	23: "esp32c5",
});

/** The chip, as the firmware sees it. */
export class Esp32System implements System {
	readonly #options: Esp32SystemOptions;

	constructor(options: Esp32SystemOptions) {
		this.#options = options;
	}

	get macAddress(): string {
		return this.#options.macAddress;
	}

	info(): SystemInfo {
		const { chip, board, partition } = this.#options;
		const { model, cores, revision, features } = chip;
		return {
			language: "en-US",
			flash_size: chip.flashSize,
			psram_size: chip.psramSize,
			minimum_free_heap_size: chip.minimumFreeHeap,
			chip_model_name: MODELS[model] ?? `model ${model}`,
			chip_info: { model, cores, revision, features },
			ota: { label: partition },
			board: { type: board, name: board },
		};
	}

	restart(delay: number): void {
		this.#options.timer.set(this.#options.restart, delay);
	}
}

/** The chip's own thermometer; undefined on a chip that has none, such as the first ESP32. */
export function chipThermometer(chip: Chip): Thermometer | undefined {
	if (chip.temperature === undefined) {
		return undefined;
	}
	return {
		get temperature(): number {
			return chip.temperature ?? Number.NaN;
		},
	};
}
