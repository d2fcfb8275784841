import { BoschChip, P1, T1, T2, word } from "./bosch-chip.js";

const CALIBRATION_T2 = 0x8a;
const CALIBRATION_P1 = 0x8e;
const CALIBRATION_H = 0xe1;
const CALIBRATION_T1 = 0xe9;
const CONTROL = 0x74;
const FIELD = 0x1d;

/** H1 and H2 of its humidity, 12 bits each; the others are 0. */
const H1 = 800;
const H2 = 1_000;

const NEW_DATA = 0x80;
const MODE = 0x03;

/** Bosch's BME680 and BME688: air pressure, temperature and humidity. It has no gas, and measures unless it is asleep. */
export class SimulatedBme68x extends BoschChip {
	override readonly type = "BME68x";
	override readonly values: Record<string, number> = { temperature: 21.5, humidity: 45, pressure: 101_325 };

	constructor() {
		super(0x61, [
			[CALIBRATION_T2, ...word(T2)],
			[CALIBRATION_P1, ...word(P1)],
			[CALIBRATION_H, H2 >> 4, ((H2 & 15) << 4) | (H1 & 15), H1 >> 4],
			[CALIBRATION_T1, ...word(T1)],
		]);
	}

	/** The first of its three fields. */
	protected override measured(): readonly [register: number, bytes: readonly number[]] {
		const humidity = Math.round(((this.values.humidity ?? 0) * 262_144) / H2 + H1 * 16);
		const [low, high] = word(humidity);
		return [FIELD, this.written(CONTROL) & MODE ? [NEW_DATA, 0, ...this.air(), high, low] : []];
	}
}
