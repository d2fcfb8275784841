import { Pin } from "./pins.js";

/** Stands in for ECMA-419's `embedded:io/pulsecount` (§10.6): the pulses are counted outside. */
export default class PulseCount extends Pin {
	/** The written count minus the pulses until then. */
	#offset = 0;

	constructor({ signal, part, onReadable }: { signal: number; part?: string; onReadable?: () => void }) {
		super({ pin: signal, part }, "counter", 0, () => onReadable?.call(this));
	}

	read(): number {
		return this.outside + this.#offset;
	}

	write(count: number): void {
		this.#offset = count - this.outside;
	}
}
