import { CRC8 } from "../crc.js";
import type { SimulatedChip } from "./simulated-chip.js";

/** Its commands: two bytes. */
const READ_STATUS = 0xf32d;

/** Sensirion's sensor of temperature and humidity: SHT30, SHT31, SHT35. Every command but that for its status measures. */
export class SimulatedSht3x implements SimulatedChip {
	readonly type = "SHT3x";
	readonly values: Record<string, number> = { temperature: 21.5, humidity: 45 };
	readonly #crc = new CRC8(0x31, 0xff);
	#command = 0;

	write([high = 0, low = 0]: Uint8Array): boolean {
		this.#command = (high << 8) | low;
		return false;
	}

	read(count: number): Uint8Array {
		const { temperature = 0, humidity = 0 } = this.values;
		const words =
			this.#command === READ_STATUS ? [0] : [((temperature + 45) * 65_535) / 175, (humidity * 65_535) / 100];
		return Uint8Array.from(words.flatMap((word) => this.#checked(word))).slice(0, count);
	}

	/** A word and its checksum. */
	#checked(word: number): number[] {
		const value = Math.min(65_535, Math.max(0, Math.round(word)));
		const bytes = [value >> 8, value & 0xff];
		return [...bytes, this.#crc.reset().checksum(Uint8Array.from(bytes))];
	}
}
