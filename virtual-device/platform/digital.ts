import { closePin, levelOf, openPin, type PinOptions, showPin } from "./pins.js";

interface DigitalOptions extends PinOptions {
	readonly mode: number;
	/** Of an output. Default 0. */
	readonly initialValue?: number | boolean;
	/** `Rising`, `Falling` or both, with `onReadable`. */
	readonly edge?: number;
	readonly onReadable?: () => void;
}

/** Stands in for ECMA-419's `embedded:io/digital` (§10.1): the level of an input is set on Node's side. */
export default class Digital {
	static readonly Input = 0;
	static readonly InputPullUp = 1;
	static readonly InputPullDown = 2;
	static readonly InputPullUpDown = 3;
	static readonly Output = 8;
	static readonly OutputOpenDrain = 9;
	static readonly Rising = 1;
	static readonly Falling = 2;
	readonly #pin: number;
	readonly #isOutput: boolean;
	readonly #initial: number;
	#level: number;

	/** @throws Error if a pin cannot be opened, RangeError for an unknown mode */
	constructor(options: DigitalOptions) {
		const { mode, initialValue, edge = 0, onReadable } = options;
		this.#isOutput = mode === Digital.Output || mode === Digital.OutputOpenDrain;
		if (!this.#isOutput && !(mode >= Digital.Input && mode <= Digital.InputPullUpDown)) {
			throw new RangeError("invalid mode");
		}
		this.#initial = this.#isOutput ? Number(Boolean(initialValue)) : Number(mode === Digital.InputPullUp);
		this.#level = this.#initial;
		this.#pin = openPin(options, this.#isOutput ? "output" : "input", this.#initial, (level) => {
			const [before, now] = [this.#level, level ? 1 : 0];
			if (!this.#isOutput && before !== now) {
				this.#level = now;
				if (edge & (now === 1 ? Digital.Rising : Digital.Falling)) {
					onReadable?.call(this);
				}
			}
		});
		if (!this.#isOutput) {
			this.#level = levelOf(this.#pin, this.#initial) ? 1 : 0;
		}
	}

	get format(): string {
		return "number";
	}

	read(): number {
		return this.#level;
	}

	write(value: number): void {
		if (!this.#isOutput) {
			throw new Error("pin is an input");
		}
		this.#level = Number(value) ? 1 : 0;
		showPin(this.#pin, this.#level);
	}

	close(): void {
		closePin(this.#pin);
	}
}
