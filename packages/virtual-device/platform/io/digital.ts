import { Pin, type PinOptions } from "./pins.js";

/** Stands in for ECMA-419's `embedded:io/digital` (§10.1): the level of an input is set from outside. */
export default class Digital extends Pin {
	static readonly Input = 0;
	static readonly InputPullUp = 1;
	static readonly InputPullDown = 2;
	static readonly InputPullUpDown = 3;
	static readonly Output = 8;
	static readonly OutputOpenDrain = 9;
	static readonly Rising = 1;
	static readonly Falling = 2;
	readonly #isOutput: boolean;
	#level: number;

	/**
	 * @param options `initialValue`: level of an output, default 0; `edge`: `Rising`, `Falling` or both, with `onReadable`
	 * @throws Error if a pin cannot be opened, RangeError for an unknown mode
	 */
	constructor(
		options: PinOptions & { mode: number; initialValue?: number | boolean; edge?: number; onReadable?: () => void },
	) {
		const { mode, initialValue, edge = 0, onReadable } = options;
		const isOutput = mode === Digital.Output || mode === Digital.OutputOpenDrain;
		if (!isOutput && !(mode >= Digital.Input && mode <= Digital.InputPullUpDown)) {
			throw new RangeError("invalid mode");
		}
		const initial = Number(isOutput ? Boolean(initialValue) : mode === Digital.InputPullUp);
		super(options, isOutput ? "output" : "input", initial, () => {
			const now = this.outside ? 1 : 0;
			if (!isOutput && now !== this.#level) {
				this.#level = now;
				if (edge & (now === 1 ? Digital.Rising : Digital.Falling)) {
					onReadable?.call(this);
				}
			}
		});
		this.#isOutput = isOutput;
		this.#level = isOutput ? initial : Number(Boolean(this.outside));
	}

	read(): number {
		return this.#level;
	}

	write(value: number): void {
		if (!this.#isOutput) {
			throw new Error("pin is an input");
		}
		this.#level = Number(value) ? 1 : 0;
		this.show(this.#level);
	}
}
