import { RegisterMap } from "./simulated-chip.js";

const CHIP_ID = 0xd0;
const CALIBRATION = 0x88;
const DATA = 0xf7;

/** The calibration: T1, T2 and P1 of the datasheet's example, and 0 for all others, so that the formulas can be inverted. */
const T1 = 27_504;
const T2 = 26_435;
const P1 = 36_477;

/** Bosch's sensor of air pressure and temperature. */
export class SimulatedBmp280 extends RegisterMap {
	override readonly type = "BMP280";
	override readonly values: Record<string, number> = { temperature: 21.5, pressure: 101_325 };
	readonly #written = new Map<number, number>();

	protected override get(register: number): number {
		if (register === CHIP_ID) {
			return 0x58;
		}
		const words = [T1, T2, 0, P1];
		const word = words[(register - CALIBRATION) >> 1];
		if (register >= CALIBRATION && word !== undefined) {
			return (register - CALIBRATION) % 2 === 0 ? word & 0xff : word >> 8;
		}
		return register >= DATA && register < DATA + 6
			? (this.#measured()[register - DATA] ?? 0)
			: (this.#written.get(register) ?? 0);
	}

	protected override set(register: number, byte: number): void {
		this.#written.set(register, byte);
	}

	/** Pressure and temperature as the converter has them: 20 bits each, the highest first. */
	#measured(): number[] {
		const { temperature = 0, pressure = 0 } = this.values;
		const raw = [1_048_576 - (pressure * P1) / 6_250, ((temperature * 5_120) / T2 + T1 / 1_024) * 16_384];
		return raw.flatMap((value) => {
			const bits = Math.min(0xfffff, Math.max(0, Math.round(value))) << 4;
			return [(bits >> 16) & 0xff, (bits >> 8) & 0xff, bits & 0xff];
		});
	}
}
