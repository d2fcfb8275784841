/** A chip on the virtual device's I2C bus. */
export interface SimulatedChip {
	/** Its type: "SHT3x". */
	readonly type: string;
	/** Its measurements, which Node sets: temperature in °C, humidity in %, pressure in Pa; of a map, registers by number. */
	readonly values: Record<string, number>;
	/** @returns whether its values have changed by that */
	write(bytes: Uint8Array): boolean;
	read(count: number): Uint8Array;
}

/** A chip whose registers have numbers of 8 bits: a write sets the number, and the bytes after it; a read begins there. */
export class RegisterMap implements SimulatedChip {
	readonly type: string = "registers";
	readonly values: Record<string, number> = {};
	#at = 0;

	write(bytes: Uint8Array): boolean {
		const [register, ...rest] = bytes;
		if (register !== undefined) {
			this.#at = register;
			for (const [offset, byte] of rest.entries()) {
				this.set((register + offset) & 0xff, byte);
			}
		}
		return rest.length > 0;
	}

	read(count: number): Uint8Array {
		const bytes = Uint8Array.from({ length: count }, (_, offset) => this.get((this.#at + offset) & 0xff));
		this.#at = (this.#at + count) & 0xff;
		return bytes;
	}

	protected get(register: number): number {
		return (this.values[String(register)] ?? 0) & 0xff;
	}

	protected set(register: number, byte: number): void {
		this.values[String(register)] = byte;
	}
}
