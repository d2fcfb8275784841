import { BoschChip, P1, T1, T2, word } from "./bosch-chip.js";

const CALIBRATION = 0x88;
const CALIBRATION_P = 0x8e;
const DATA = 0xf7;

/** Bosch's sensor of air pressure and temperature. */
export class SimulatedBmp280 extends BoschChip {
	override readonly type = "BMP280";
	override readonly values: Record<string, number> = { temperature: 21.5, pressure: 101_325 };

	constructor() {
		super(0x58, [
			[CALIBRATION, ...word(T1), ...word(T2)],
			[CALIBRATION_P, ...word(P1)],
		]);
	}

	protected override measured(): readonly [register: number, bytes: readonly number[]] {
		return [DATA, this.air()];
	}
}
