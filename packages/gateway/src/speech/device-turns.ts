import type { Server } from "xs-mcp-manager/core";

/** Calls that wait for a device; and as many urgent ones. */
const MAX_WAITING = 8;

interface Turns {
	/** Aborts the call in progress. */
	current: AbortController | undefined;
	readonly waiting: { readonly isUrgent: boolean; readonly begin: () => void }[];
}

/** Turns of devices: each says or hears one thing at a time. */
export class DeviceTurns {
	readonly #turns = new WeakMap<Server, Turns>();

	/** Whether a device says or hears something at the moment. */
	isBusy(device: Server): boolean {
		return this.#turns.get(device)?.current !== undefined;
	}

	/**
	 * Runs a task in a device's turn. Rejects with an Error if too many wait, or with the reason of its interruption.
	 *
	 * @param act rejects once its signal says so
	 * @param isUrgent interrupts the current turn, and comes before those that wait
	 */
	async take<T>(
		device: Server,
		cancelled: AbortSignal,
		act: (signal: AbortSignal) => Promise<T>,
		isUrgent = false,
	): Promise<T> {
		cancelled.throwIfAborted();
		const turns = this.#turns.get(device) ?? { current: undefined, waiting: [] };
		this.#turns.set(device, turns);
		if (turns.waiting.filter((each) => each.isUrgent === isUrgent).length >= MAX_WAITING) {
			throw new Error(`${MAX_WAITING} calls wait for this device to speak or listen`);
		}
		if (turns.current !== undefined) {
			if (isUrgent) {
				turns.current.abort(new Error("interrupted by an urgent announcement"));
			}
			await waitFor(turns, isUrgent, cancelled);
		}
		const current = new AbortController();
		turns.current = current;
		const signal = AbortSignal.any([cancelled, current.signal]);
		try {
			signal.throwIfAborted();
			return await act(signal);
		} catch (error) {
			throw signal.aborted ? signal.reason : error;
		} finally {
			const next = turns.waiting.shift();
			// The next turn starts before any other can.
			turns.current = next && current;
			next?.begin();
		}
	}
}

/** Resolves when those before it have ended, urgent ones first. Rejects, and frees the place, once the signal is aborted. */
function waitFor({ waiting }: Turns, isUrgent: boolean, signal: AbortSignal): Promise<void> {
	return new Promise((begin, reject) => {
		const own = { isUrgent, begin };
		const at = isUrgent ? waiting.findIndex((each) => !each.isUrgent) : -1;
		waiting.splice(at < 0 ? waiting.length : at, 0, own);
		const leave = (): void => {
			if (waiting.includes(own)) {
				waiting.splice(waiting.indexOf(own), 1);
				reject(signal.reason);
			}
		};
		signal.addEventListener("abort", leave, { once: true });
	});
}
