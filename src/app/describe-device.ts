import type { Device } from "../hardware/hardware.js";

/**
 * The device as a whole, for tools and resources.
 *
 * @param name the board's
 * @param ticks a monotonic clock: milliseconds, as a 32-bit number
 */
export function describeDevice(name: string, readState: () => string, ticks: (() => number) | undefined): Device {
	const start = ticks?.();
	return {
		name,
		get state() {
			return readState();
		},
		get uptime() {
			return ticks === undefined || start === undefined ? undefined : (ticks() - start) >>> 0;
		},
	};
}
