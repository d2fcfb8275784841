import type { Device } from "./device.js";
import { DeviceError } from "./errors.js";

export interface CallQueueOptions {
	/** Calls that a device works on at the same time. */
	readonly concurrency: number;
	/** Calls that may wait for their turn. */
	readonly capacity: number;
	/** Milliseconds that a call waits for a device that is away. */
	readonly awayWait: number;
	/** What a call is told that waited in vain. */
	readonly awayMessage: () => string;
}

interface Waiting {
	start(device: Device): void;
	refuse(error: DeviceError): void;
	timer: NodeJS.Timeout | undefined;
}

/** The calls to one device: they start in the order in which they came, a few at a time, when the device is there. */
export class CallQueue {
	readonly #options: CallQueueOptions;
	readonly #waiting: Waiting[] = [];
	#running = 0;
	#device: Device | undefined;

	constructor(options: CallQueueOptions, device: Device | undefined) {
		this.#options = options;
		this.#device = device;
	}

	/** Whether nothing runs or waits. */
	get idle(): boolean {
		return this.#running === 0 && this.#waiting.length === 0;
	}

	/**
	 * Runs a call when it is its turn. Settles as the call does.
	 *
	 * Rejects with DeviceError "queue-full", "device-away", or "cancelled" when the signal comes before the turn.
	 */
	run<Result>(call: (device: Device) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
		return new Promise((resolve, reject) => {
			if (signal?.aborted) {
				reject(new DeviceError("cancelled", "the call was cancelled"));
				return;
			}
			const cancel = (): void => this.#refuse(waiting, new DeviceError("cancelled", "the call was cancelled"));
			const waiting: Waiting = {
				start: (device) => {
					signal?.removeEventListener("abort", cancel);
					this.#running += 1;
					call(device)
						.then(resolve, reject)
						.finally(() => this.#ended());
				},
				refuse: (error) => {
					signal?.removeEventListener("abort", cancel);
					reject(error);
				},
				timer: undefined,
			};
			signal?.addEventListener("abort", cancel, { once: true });
			this.#enqueue(waiting);
		});
	}

	/** The device is there: its calls may start. */
	deviceCame(device: Device): void {
		this.#device = device;
		for (const waiting of this.#waiting) {
			clearTimeout(waiting.timer);
		}
		this.#startNext();
	}

	/** The device is away: its calls wait from now on. */
	deviceLeft(): void {
		this.#device = undefined;
		for (const waiting of this.#waiting) {
			this.#waitForDevice(waiting);
		}
	}

	/** Refuses what waits. What runs settles by itself. */
	close(error: DeviceError): void {
		for (const waiting of [...this.#waiting]) {
			this.#refuse(waiting, error);
		}
	}

	#enqueue(waiting: Waiting): void {
		const { capacity } = this.#options;
		this.#waiting.push(waiting);
		this.#startNext();
		if (this.#waiting.length > capacity) {
			this.#refuse(waiting, new DeviceError("queue-full", `${capacity} calls wait for the device already`));
		} else if (this.#device === undefined) {
			this.#waitForDevice(waiting);
		}
	}

	#waitForDevice(waiting: Waiting): void {
		const { awayWait, awayMessage } = this.#options;
		waiting.timer = setTimeout(() => this.#refuse(waiting, new DeviceError("device-away", awayMessage())), awayWait);
	}

	#refuse(waiting: Waiting, error: DeviceError): void {
		const index = this.#waiting.indexOf(waiting);
		if (index >= 0) {
			this.#waiting.splice(index, 1);
			clearTimeout(waiting.timer);
			waiting.refuse(error);
		}
	}

	#startNext(): void {
		while (this.#device?.connected && this.#running < this.#options.concurrency) {
			const next = this.#waiting.shift();
			if (next === undefined) {
				return;
			}
			next.start(this.#device);
		}
	}

	#ended(): void {
		this.#running -= 1;
		this.#startNext();
	}
}
