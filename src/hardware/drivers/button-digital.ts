import { TimedButton, type TimedButtonOptions } from "./button.js";

/** A digital input of ECMA-419. */
export interface DigitalInput {
	read(): number;
	close(): void;
}

/** ECMA-419's class of digital inputs. */
export interface DigitalClass {
	readonly Input: number;
	readonly InputPullUp: number;
	readonly Rising: number;
	readonly Falling: number;
	new (options: object): DigitalInput;
}

export interface DigitalButtonOptions extends TimedButtonOptions {
	readonly io: DigitalClass;
	readonly pin: number;
	/** Whether the pin is high while the button is down. Default: the button connects the pin to ground. */
	readonly activeHigh?: boolean;
	/** Its name on a virtual device. */
	readonly part?: string;
}

/** A button on a pin. */
export class DigitalButton extends TimedButton {
	private readonly input: DigitalInput;

	constructor(options: DigitalButtonOptions) {
		const { io, pin, part, activeHigh = false } = options;
		super(options, { pin, high: activeHigh });
		this.input = new io({
			pin,
			part,
			mode: activeHigh ? io.Input : io.InputPullUp,
			edge: io.Rising | io.Falling,
			onReadable: () => this.follow(this.input.read() === Number(activeHigh)),
		});
	}

	override close(): void {
		super.close();
		this.input.close();
	}
}
