import type { DeviceState } from "../device_state/device-state.js";
import type { Guard } from "../hardware/guard.js";
import type { Device } from "../hardware/hardware.js";

/** The device as a whole, for tools and resources. */
export class RunningDevice implements Device {
	readonly name: string;
	readonly isSafe: boolean;
	private readonly machine: { readonly state: DeviceState };
	private readonly guard: Guard;
	private readonly ticks: (() => number) | undefined;
	private readonly start: number | undefined;

	/** @param ticks a monotonic clock: milliseconds, as a 32-bit number */
	constructor(
		name: string,
		isSafe: boolean,
		machine: { readonly state: DeviceState },
		guard: Guard,
		ticks: (() => number) | undefined,
	) {
		this.name = name;
		this.machine = machine;
		this.guard = guard;
		this.isSafe = isSafe;
		this.ticks = ticks;
		this.start = ticks?.();
	}

	get state(): DeviceState {
		return this.machine.state;
	}

	get errors(): number {
		return this.guard.count;
	}

	get lastError(): string | undefined {
		return this.guard.lastError;
	}

	get uptime(): number | undefined {
		return this.ticks === undefined || this.start === undefined ? undefined : (this.ticks() - this.start) >>> 0;
	}
}
