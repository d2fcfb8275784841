import { RegisterMap } from "./simulated-chip.js";

/** The registers of its time, of its control and of its temperature. */
const TIME = 0x00;
const TEMPERATURE = 0x11;

/** Bits of a month: the century that has begun since 1900. */
const CENTURY = 0x80;

/** Analog Devices' real-time clock. It goes, from the computer's time at first. */
export class SimulatedDs3231 extends RegisterMap {
	override readonly type = "DS3231";
	override readonly values: Record<string, number> = { temperature: 21.5 };
	readonly #written = new Map<number, number>();
	/** Milliseconds that it is ahead of the computer. */
	#ahead = 0;

	override write(bytes: Uint8Array): boolean {
		const [register, ...rest] = bytes;
		super.write(bytes);
		if (register === TIME && rest.length >= 7) {
			this.#ahead = timeOf(rest) - Date.now();
		}
		return false;
	}

	protected override get(register: number): number {
		if (register < TIME + 7) {
			return registersOf(new Date(Date.now() + this.#ahead))[register - TIME] ?? 0;
		}
		const quarters = Math.round((this.values.temperature ?? 0) * 4);
		if (register === TEMPERATURE || register === TEMPERATURE + 1) {
			return register === TEMPERATURE ? (quarters >> 2) & 0xff : (quarters & 3) << 6;
		}
		return this.#written.get(register) ?? 0;
	}

	protected override set(register: number, byte: number): void {
		this.#written.set(register, byte);
	}
}

function registersOf(time: Date): number[] {
	const year = time.getUTCFullYear();
	return [
		...[time.getUTCSeconds(), time.getUTCMinutes(), time.getUTCHours(), time.getUTCDay() + 1, time.getUTCDate()].map(
			toBcd,
		),
		toBcd(time.getUTCMonth() + 1) | (year >= 2000 ? CENTURY : 0),
		toBcd(year % 100),
	];
}

function timeOf([
	second = 0,
	minute = 0,
	hour = 0,
	_day = 0,
	date = 0,
	month = 0,
	year = 0,
]: readonly number[]): number {
	const century = month & CENTURY ? 2_000 : 1_900;
	const [month0, hours] = [fromBcd(month & 0x1f) - 1, fromBcd(hour & 0x3f)];
	return Date.UTC(century + fromBcd(year), month0, fromBcd(date), hours, fromBcd(minute), fromBcd(second));
}

function toBcd(value: number): number {
	return (Math.floor(value / 10) << 4) | (value % 10);
}

function fromBcd(byte: number): number {
	return (byte >> 4) * 10 + (byte & 15);
}
