import type { WakePin } from "../hardware.js";
import { TimedButton, type TimedButtonOptions } from "./button.js";

/** A digital input of ECMA-419. */
export interface DigitalInput {
	read(): number;
	close(): void;
}

interface DigitalInputOptions {
	readonly pin: number;
	readonly mode: number;
	readonly edge: number;
	readonly onReadable: () => void;
	/** Its name on a virtual device. */
	readonly part?: string | undefined;
}

/** ECMA-419's class of digital inputs. */
export interface DigitalClass {
	readonly Input: number;
	readonly InputPullUp: number;
	readonly Rising: number;
	readonly Falling: number;
	new (options: DigitalInputOptions): DigitalInput;
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
	readonly wakePin: WakePin;
	private readonly input: DigitalInput;

	constructor(options: DigitalButtonOptions) {
		super(options);
		const { io, pin, part, activeHigh = false } = options;
		this.wakePin = { pin, high: activeHigh };
		const down = activeHigh ? 1 : 0;
		this.input = new io({
			pin,
			part,
			mode: activeHigh ? io.Input : io.InputPullUp,
			edge: io.Rising | io.Falling,
			onReadable: () => this.follow(this.input.read() === down),
		});
	}

	override close(): void {
		super.close();
		this.input.close();
	}
}
