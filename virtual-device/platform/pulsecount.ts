import { closePin, levelOf, openPin } from "./pins.js";

interface PulseCountOptions {
	readonly signal: number;
	readonly control?: number;
	readonly part?: string;
	readonly onReadable?: () => void;
}

/** Stands in for ECMA-419's `embedded:io/pulsecount` (§10.6): the pulses are counted on Node's side. */
export default class PulseCount {
	readonly #pin: number;
	/** What was written, less what had been counted then. */
	#offset = 0;

	constructor({ signal, part, onReadable }: PulseCountOptions) {
		this.#pin = openPin({ pin: signal, part }, "counter", 0, () => onReadable?.call(this));
	}

	get format(): string {
		return "number";
	}

	read(): number {
		return levelOf(this.#pin, 0) + this.#offset;
	}

	write(count: number): void {
		this.#offset = count - levelOf(this.#pin, 0);
	}

	close(): void {
		closePin(this.#pin);
	}
}
