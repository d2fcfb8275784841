import { RegisterMap } from "./simulated-chip.js";

const CHIP_ID = 0xd0;

/** The calibration, of all Bosch's chips here: others are 0, so that the formulas can be inverted. */
export const T1 = 27_504;
export const T2 = 26_435;
export const P1 = 36_477;

/** A chip of Bosch: it has an identity, a calibration and measurements, and takes pairs of a register and its byte. */
export abstract class BoschChip extends RegisterMap {
	readonly #fixed: ReadonlyMap<number, number>;
	readonly #written = new Map<number, number>();

	/** @param calibration bytes, by the registers that they begin at */
	constructor(id: number, calibration: readonly (readonly [register: number, ...bytes: number[]])[]) {
		super();
		const bytes = calibration.flatMap(([start, ...rest]) => rest.map((byte, at) => [start + at, byte] as const));
		this.#fixed = new Map([[CHIP_ID, id], ...bytes]);
	}

	override write(bytes: Uint8Array): boolean {
		super.write(bytes.subarray(0, 1));
		for (let at = 0; at + 1 < bytes.length; at += 2) {
			this.#written.set(bytes[at] as number, bytes[at + 1] as number);
		}
		return false;
	}

	/** Bytes that it has measured, and the register that they begin at. */
	protected abstract measured(): readonly [register: number, bytes: readonly number[]];

	protected written(register: number): number {
		return this.#written.get(register) ?? 0;
	}

	protected override get(register: number): number {
		const [start, bytes] = this.measured();
		return this.#fixed.get(register) ?? bytes[register - start] ?? this.written(register);
	}

	/** Pressure and temperature as its converters have them. */
	protected air(): number[] {
		const { temperature = 0, pressure = 0 } = this.values;
		return [
			...bits20(1_048_576 - (pressure * P1) / 6_250),
			...bits20(((temperature * 5_120) / T2 + T1 / 1_024) * 16_384),
		];
	}
}

/** The lowest byte first. */
export function word(value: number): [low: number, high: number] {
	return [value & 0xff, value >> 8];
}

/** The highest bits first. */
function bits20(value: number): number[] {
	const bits = Math.min(0xfffff, Math.max(0, Math.round(value))) << 4;
	return [(bits >> 16) & 0xff, (bits >> 8) & 0xff, bits & 0xff];
}
