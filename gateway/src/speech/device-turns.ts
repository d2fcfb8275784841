import type { Server } from "xs-mcp-manager/core";

/** An act that waits for its turn. */
interface Waiting {
	readonly isUrgent: boolean;
	readonly begin: () => void;
}

/** Acts that wait for a device. */
const MAX_WAITING = 8;

interface TurnOptions {
	/** Whether it interrupts the current turn, and comes before those that wait. */
	readonly isUrgent?: boolean;
	readonly signal: AbortSignal;
}

/** Turns of devices: each says or hears one thing at a time. */
export class DeviceTurns {
	readonly #queues = new WeakMap<Server, TurnQueue>();

	/** Whether a device says or hears something at the moment. */
	isBusy(device: Server): boolean {
		return this.#queues.get(device)?.isBusy === true;
	}

	/**
	 * Runs a task in a device's turn. Rejects with an Error if too many wait, or with the reason of its interruption.
	 *
	 * @param act rejects once its signal says so
	 */
	async take<T>(
		device: Server,
		{ isUrgent = false, signal: cancelled }: TurnOptions,
		act: (signal: AbortSignal) => Promise<T>,
	): Promise<T> {
		const queue = this.#queues.get(device) ?? new TurnQueue();
		this.#queues.set(device, queue);
		if (queue.length >= MAX_WAITING) {
			throw new Error(`${MAX_WAITING} calls wait for this device to speak or listen`);
		}
		if (isUrgent) {
			queue.interrupt(new Error("interrupted by an urgent announcement"));
		}
		return await queue.run(isUrgent, async (interrupted) => {
			const signal = AbortSignal.any([cancelled, interrupted]);
			try {
				signal.throwIfAborted();
				return await act(signal);
			} catch (error) {
				throw signal.aborted ? signal.reason : error;
			}
		});
	}
}

/** The turns of one device: one after the other, urgent ones first. */
class TurnQueue {
	readonly #waiting: Waiting[] = [];
	/** Ends the act in progress. */
	#current: AbortController | undefined;

	get length(): number {
		return this.#waiting.length;
	}

	get isBusy(): boolean {
		return this.#current !== undefined;
	}

	/** Ends the act in progress. */
	interrupt(reason: Error): void {
		this.#current?.abort(reason);
	}

	/**
	 * Runs an act when those before it have ended.
	 *
	 * @param act rejects once its signal says that it was interrupted
	 */
	async run<T>(isUrgent: boolean, act: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
		if (this.#current !== undefined) {
			await this.#wait(isUrgent);
		}
		const current = new AbortController();
		this.#current = current;
		try {
			return await act(current.signal);
		} finally {
			const next = this.#waiting.shift();
			// The next one begins before another can.
			this.#current = next && current;
			next?.begin();
		}
	}

	#wait(isUrgent: boolean): Promise<void> {
		return new Promise((begin) => {
			const at = isUrgent ? this.#waiting.findIndex((each) => !each.isUrgent) : -1;
			this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, { isUrgent, begin });
		});
	}
}
