import { RegisterMap } from "./simulated-chip.js";

/** Its registers come in pairs, one of each port: directions, polarities, resistors, levels and latches. */
const DIRECTION = 0x00;
const POLARITY = 0x02;
const PULL_UP = 0x0c;
const LEVEL = 0x12;
const LATCH = 0x14;

/** Names of the pins of its ports, as in its datasheet: GPA0 to GPB7. */
const PINS = ["a", "b"].map((port) => Array.from({ length: 8 }, (_, bit) => `${port}${bit}`));

/** Microchip's expander: 16 digital pins. Inputs are set by their names; outputs show theirs. It has no interrupts. */
export class SimulatedMcp23017 extends RegisterMap {
	override readonly type = "MCP23017";
	override readonly values: Record<string, number> = Object.fromEntries(PINS.flat().map((name) => [name, 0]));
	readonly #registers = new Map<number, number>([
		[DIRECTION, 0xff],
		[DIRECTION + 1, 0xff],
	]);

	override write(bytes: Uint8Array): boolean {
		super.write(bytes);
		return PINS.map((_, port) => this.#showOutputs(port)).some(Boolean);
	}

	protected override get(register: number): number {
		if (register >> 1 !== LEVEL >> 1) {
			return this.#registers.get(register) ?? 0;
		}
		const port = register & 1;
		const levels = (PINS[port] ?? []).reduce((bits, name, bit) => bits | (this.values[name] ? 1 << bit : 0), 0);
		return levels ^ (this.#port(POLARITY, port) & this.#port(DIRECTION, port));
	}

	protected override set(register: number, byte: number): void {
		const target = register >> 1 === LEVEL >> 1 ? LATCH | (register & 1) : register;
		// A resistor pulls up a pin that is not connected.
		if (target >> 1 === PULL_UP >> 1) {
			const added = byte & ~this.#port(PULL_UP, register & 1);
			for (const [bit, name] of (PINS[register & 1] ?? []).entries()) {
				if (added & (1 << bit)) {
					this.values[name] = 1;
				}
			}
		}
		this.#registers.set(target, byte);
	}

	/** @returns whether one of them has changed */
	#showOutputs(port: number): boolean {
		let isChanged = false;
		for (const [bit, name] of (PINS[port] ?? []).entries()) {
			const level = (this.#port(LATCH, port) >> bit) & 1;
			if (!(this.#port(DIRECTION, port) & (1 << bit)) && this.values[name] !== level) {
				this.values[name] = level;
				isChanged = true;
			}
		}
		return isChanged;
	}

	#port(register: number, port: number): number {
		return this.#registers.get(register + port) ?? 0;
	}
}
