import type { TimerHandle } from "../hardware.js";
import type { Siren, SirenPattern } from "../kinds/siren.js";
import type { SwitchCause } from "../kinds/switch.js";
import { aNumber, anything, optionFault, type Part, type PartIo } from "./part.js";
import { PIN_SWITCH_CHECKS, PinSwitch, type PinSwitchOptions } from "./relay.js";

export interface SirenOptions extends PinSwitchOptions {
	/** Seconds that it sounds and rests by turns, unless a call has others: 0.1 to 60, and 0 to 60. Default: no rest. */
	readonly pattern?: SirenPattern;
}

/** Longest time that a siren sounds by default, in seconds. */
const MAX_ON = 60;

/** Longest turn of a pattern, in seconds. */
const LONGEST_TURN = 60;

/**
 * A siren, buzzer or beacon at a relay, which sounds in a pattern. `maxOn` is 60 seconds by default.
 *
 * @example
 * alarm: siren({ pin: 25, maxOn: 120, pattern: { on: 0.5, off: 0.5 } })
 */
export const siren = (options: SirenOptions): Part<"siren"> => {
	const { pin, pattern } = options;
	return {
		makes: "siren",
		pins: [{ pin, use: "output" }],
		fault: optionFault(
			options,
			{ ...PIN_SWITCH_CHECKS, pattern: anything },
			pattern !== undefined && aNumber(0.1, LONGEST_TURN, "seconds")("pattern.on", pattern.on),
			pattern !== undefined && aNumber(0, LONGEST_TURN, "seconds")("pattern.off", pattern.off),
		),
		open: (io) => new PinSiren({ ...options, maxOn: options.maxOn ?? MAX_ON }, io),
	};
};

/** A pin that is switched on and off by turns while the siren is on. */
class PinSiren extends PinSwitch implements Siren {
	private readonly pattern: SirenPattern | undefined;
	/** Runs until the next turn. */
	private next: TimerHandle | undefined;

	constructor({ pattern, ...options }: SirenOptions, io: PartIo) {
		super(options, io);
		this.pattern = pattern;
	}

	override turn(on: boolean, seconds?: number, pattern = this.pattern): void {
		const wasOn = this.on;
		super.turn(on, seconds);
		this.io.timer.clear(this.next);
		if (on) {
			this.planTurn(false, pattern);
		}
		if (on && wasOn) {
			this.write(true);
		}
	}

	override switchOff(cause: SwitchCause): void {
		this.io.timer.clear(this.next);
		super.switchOff(cause);
	}

	/** Plans the next turn before the pin is written, so that a failure does not end the pattern. */
	private planTurn(isLoud: boolean, pattern: SirenPattern | undefined): void {
		if (pattern !== undefined && pattern.off > 0) {
			const seconds = isLoud ? pattern.off : pattern.on;
			this.next = this.io.timer.set(() => {
				this.planTurn(!isLoud, pattern);
				this.write(isLoud);
			}, seconds * 1000);
		}
	}
}
