/** Pins of a chip: what the SDK's classes of ECMA-419 write, and what a test sets. */
export class FakePins {
	/** How often a pin was opened, or could not be. */
	tried = 0;
	readonly #levels = new Map<number, number>();
	readonly #written = new Map<number, number[]>();
	readonly #onReadable = new Map<number, () => void>();
	#failure: string | undefined;

	/** Lets pins fail to open with this message; undefined: they open. */
	fail(message: string | undefined): void {
		this.#failure = message;
	}

	level(pin: number): number | undefined {
		return this.#levels.get(pin);
	}

	/** All that was written to a pin. */
	written(pin: number): readonly number[] {
		return this.#written.get(pin) ?? [];
	}

	/** Sets an input from outside. */
	set(pin: number, level: number): void {
		this.#levels.set(pin, level);
		this.#onReadable.get(pin)?.();
	}

	/** The class of a module of the SDK. */
	load<Export>(module: string): Export {
		if (module === "neopixel") {
			throw new Error("not a strip");
		}
		const pins = this;
		class Pin {
			static readonly Input = 0;
			static readonly InputPullUp = 1;
			static readonly InputPullDown = 2;
			static readonly Output = 8;
			static readonly Rising = 1;
			static readonly Falling = 2;
			readonly resolution: number;
			readonly #pin: number;

			constructor(options: PinOptions) {
				pins.#open();
				const { pin = options.signal ?? 0, mode, initialValue, resolution, onReadable } = options;
				this.#pin = pin;
				this.resolution = resolution ?? (module.endsWith("analog") ? 12 : 10);
				if (mode === Pin.Output) {
					this.write(initialValue ?? 0);
				} else if (mode === Pin.InputPullUp) {
					pins.#levels.set(pin, 1);
				}
				if (onReadable !== undefined) {
					pins.#onReadable.set(pin, onReadable);
				}
			}

			read(): number {
				return pins.#levels.get(this.#pin) ?? 0;
			}

			write(value: number): void {
				pins.#levels.set(this.#pin, value);
				pins.#written.set(this.#pin, [...pins.written(this.#pin), value]);
			}

			close(): void {
				pins.#onReadable.delete(this.#pin);
			}
		}
		return Pin as Export;
	}

	#open(): void {
		this.tried += 1;
		if (this.#failure !== undefined) {
			throw new Error(this.#failure);
		}
	}
}

interface PinOptions {
	readonly pin?: number;
	/** The pin of a counter. */
	readonly signal?: number;
	readonly mode?: number;
	readonly initialValue?: number;
	readonly resolution?: number;
	readonly onReadable?: () => void;
}
