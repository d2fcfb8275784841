import { Guard } from "../../src/hardware/guard.js";
import type { TimerHandle, TimerModule } from "../../src/hardware/hardware.js";
import { settled } from "../harness.js";

interface Entry {
	readonly callback: () => void;
	due: number;
	readonly interval: number | undefined;
}

/** Calls back as XS does: an exception ends the machine, unless the global function `abort` returns false. */
export function callBack(callback: () => void): void {
	try {
		callback();
	} catch (error) {
		const { abort } = globalThis as { abort?: (reason: string, error: unknown) => unknown };
		if (abort?.("unhandled exception", error) !== false) {
			throw error;
		}
	}
}

export function installGuard(
	guard = new Guard(
		() => {},
		() => 0,
	),
) {
	guard.install();
	return { guard, release: () => Reflect.deleteProperty(globalThis, "abort") };
}

export class FakeTimer implements TimerModule {
	now = 0;
	readonly #entries = new Set<Entry>();

	get size(): number {
		return this.#entries.size;
	}

	set(callback: () => void, delay: number): TimerHandle {
		return this.#add({ callback, due: this.now + delay, interval: undefined });
	}

	repeat(callback: () => void, interval: number): TimerHandle {
		return this.#add({ callback, due: this.now + interval, interval });
	}

	clear(timer: TimerHandle | null | undefined): void {
		this.#entries.delete(timer as Entry);
	}

	pass(milliseconds: number): void {
		const end = this.now + milliseconds;
		let next = this.#next(end);
		while (next !== undefined) {
			this.now = next.due;
			if (next.interval === undefined) {
				this.#entries.delete(next);
			} else {
				next.due += next.interval;
			}
			callBack(next.callback);
			next = this.#next(end);
		}
		this.now = end;
	}

	async passed(milliseconds: number): Promise<void> {
		this.pass(milliseconds);
		await settled();
	}

	#add(entry: Entry): Entry {
		this.#entries.add(entry);
		return entry;
	}

	#next(end: number): Entry | undefined {
		let next: Entry | undefined;
		for (const entry of this.#entries) {
			if (entry.due <= end && (next === undefined || entry.due < next.due)) {
				next = entry;
			}
		}
		return next;
	}
}
