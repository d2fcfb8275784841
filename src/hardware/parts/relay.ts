import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { TimerHandle } from "../hardware.js";
import { checkSeconds, type Switch, type SwitchCause } from "../kinds/switch.js";
import {
	aFlag,
	aNumber,
	anything,
	aPin,
	DIGITAL,
	type DigitalClass,
	type DigitalPin,
	oneOf,
	optional,
	optionFault,
	type Part,
	type PartIo,
	type PartOptions,
	Retried,
} from "./part.js";

/** Options of a pin that is switched on and off. */
export interface PinSwitchOptions extends PartOptions {
	readonly pin: number;
	/** Whether it is on while the pin is low. Default false. */
	readonly activeLow?: boolean;
	/** Longest time on in seconds, for every caller: 0.1 to 86,400. Default: no limit. */
	readonly maxOn?: number;
}

export interface RelayOptions extends PinSwitchOptions {
	/** Minimum seconds that it stays off before it is switched on again: 0 to 3,600. Default 0. */
	readonly minOff?: number;
	/** Its reaction when the last session with the backend is lost. Default "keep". */
	readonly onSessionLost?: "keep" | "off";
}

/** Longest time that it rests, in seconds. */
const MAX_OFF = 3_600;

/** Checks of the options of a pin that is switched on and off. */
export const PIN_SWITCH_CHECKS = deepFreeze({
	title: anything,
	pin: aPin,
	activeLow: aFlag,
	maxOn: optional(aNumber(0.1, 86_400, "seconds")),
});

/** Seconds between two times that it is switched on: contacts and motors wear out. */
const MIN_PERIOD = 1;

/** Milliseconds until a relay that could not be switched off is tried again. */
const OFF_RETRY = 1_000;

/**
 * A relay, or anything else that a pin switches on and off.
 *
 * @example
 * pump: relay({ pin: 26, title: "Pump", maxOn: 30 })
 */
export const relay = (options: RelayOptions): Part<"switch"> => {
	return {
		makes: "switch",
		pins: [{ pin: options.pin, use: "output" }],
		fault: optionFault(options, {
			...PIN_SWITCH_CHECKS,
			minOff: optional(aNumber(0, MAX_OFF, "seconds")),
			onSessionLost: optional(oneOf("keep", "off")),
		}),
		open: (io) => new PinSwitch(options, io),
	};
};

/** A switch on a pin, with the limits of its options. Times are milliseconds of a monotonic clock. */
export class PinSwitch extends Retried<DigitalPin> implements Switch {
	onChange: ((on: boolean, cause: SwitchCause) => void) | undefined;
	private readonly options: RelayOptions;
	private _on = false;
	/** Times at which it was last switched on, and off; undefined before. */
	private onSince: number | undefined;
	private offSince: number | undefined;
	/** Total time on, from `onSince`; undefined without a limit. */
	private span: number | undefined;
	private end: TimerHandle | undefined;

	/** Opens the pin, switched off. */
	constructor(options: RelayOptions, io: PartIo) {
		const { pin, activeLow = false, title } = options;
		const open = (): DigitalPin => {
			const Digital = io.load<DigitalClass>(DIGITAL);
			return new Digital({ pin, mode: Digital.Output, initialValue: activeLow ? 1 : 0, part: io.name });
		};
		super(io, open, title);
		this.options = options;
	}

	get on(): boolean {
		return this._on;
	}

	get maxOn(): number | undefined {
		return this.options.maxOn;
	}

	get left(): number | undefined {
		return this.span === undefined ? undefined : Math.max(0, this.span - this.since(this.onSince)) / 1000;
	}

	turn(on: boolean, seconds?: number): void {
		if (!on) {
			this.switchOff("call");
			return;
		}
		checkSeconds(this.io.name, this, seconds);
		if (!this._on) {
			this.expectRest();
			this.write(true);
			this.onSince = this.io.ticks();
			this.span = undefined;
		}
		this.limit(seconds);
		if (!this._on) {
			this._on = true;
			this.onChange?.(true, "call");
		}
	}

	toggle(): void {
		this.turn(!this._on);
	}

	/**
	 * Off is never refused: a pin that could not be opened has never been on. If the pin does not answer now, it is tried
	 * again, whatever the cause.
	 */
	switchOff(cause: SwitchCause): void {
		const { timer } = this.io;
		timer.clear(this.end);
		if (this.error === undefined) {
			this.end = timer.set(() => this.switchOff(cause), OFF_RETRY);
			this.write(false);
			timer.clear(this.end);
		}
		this.span = undefined;
		if (this._on) {
			this._on = false;
			this.offSince = this.io.ticks();
			this.onChange?.(false, cause);
		}
	}

	sessionEnded(): void {
		if (this.options.onSessionLost === "off") {
			this.switchOff("session");
		}
	}

	override close(): void {
		this.switchOff("session");
		super.close();
	}

	/** @throws Error that says when it can be switched on again */
	private expectRest(): void {
		const { minOff = 0 } = this.options;
		const wait = Math.max(MIN_PERIOD * 1000 - this.since(this.onSince), minOff * 1000 - this.since(this.offSince));
		if (wait > 0) {
			const when = Math.ceil(wait / 100) / 10;
			throw new Error(`${this.io.name}: switched on too often; try again in ${when} seconds`);
		}
	}

	/** Milliseconds since a time; infinite if it is undefined. */
	private since(time: number | undefined): number {
		return time === undefined ? Number.POSITIVE_INFINITY : (this.io.ticks() - time) >>> 0;
	}

	/** Plans to switch it off in `seconds`, but at most `maxOn` after it was switched on, however often it is called. */
	private limit(seconds = Number.POSITIVE_INFINITY): void {
		const { timer } = this.io;
		const { maxOn = Number.POSITIVE_INFINITY } = this.options;
		const passed = this.since(this.onSince);
		const span = Math.min(passed + seconds * 1000, maxOn * 1000);
		timer.clear(this.end);
		this.span = span === Number.POSITIVE_INFINITY ? undefined : span;
		this.end =
			this.span === undefined
				? undefined
				: timer.set(() => this.switchOff("limit"), Math.max(0, Math.ceil(span - passed)));
	}

	protected write(on: boolean): void {
		this.value.write(on === (this.options.activeLow === true) ? 0 : 1);
	}
}
