import { ArgumentChecker } from "./argument-checker.js";
import { CallQueue } from "./call-queue.js";
import type { CallOptions, CallResult, Device, DeviceTool } from "./device.js";
import { DeviceError } from "./errors.js";
import type { KnownDevice } from "./known-device.js";
import type { KnownDevices } from "./registry.js";

export interface DeviceCallsOptions {
	/** Milliseconds that a call waits for a device that is away. Default 10,000. */
	readonly awayWait?: number;
	/** Milliseconds that a device has for a call, from when it was sent. Default 30,000. */
	readonly callTimeout?: number;
	/** Calls that one device works on at the same time. Default 4. */
	readonly callsPerDevice?: number;
	/** Calls that may wait for one device. Default 64. */
	readonly callsWaiting?: number;
	/** Hears of tools whose arguments cannot be checked. */
	readonly warn: (message: string) => void;
}

/**
 * Calls tools of known devices, wherever their sessions are: checks the arguments, waits for a device that is away, and
 * keeps the order of the calls to each. A call is sent once at most.
 */
export class DeviceCalls {
	readonly #devices: KnownDevices;
	readonly #options: DeviceCallsOptions;
	readonly #checker: ArgumentChecker;
	/** Of the devices for which there are calls, by device id. */
	readonly #queues = new Map<string, CallQueue>();

	constructor(devices: KnownDevices, options: DeviceCallsOptions) {
		this.#devices = devices;
		this.#options = options;
		this.#checker = new ArgumentChecker(options.warn);
		devices.on("available", ({ id, device }) => device && this.#queues.get(id)?.deviceCame(device));
		devices.on("away", ({ id }) => this.#queues.get(id)?.deviceLeft());
	}

	/**
	 * Calls a tool. A tool that failed is a result with `isError`.
	 *
	 * Rejects with RpcError when the device answers with an error, and with DeviceError when it does not answer, or was
	 * not asked: see {@link DeviceErrorCode}.
	 */
	async call(known: KnownDevice, tool: DeviceTool, args: object, options: CallOptions = {}): Promise<CallResult> {
		const complaint = this.#checker.check(tool, args);
		if (complaint !== undefined) {
			throw new DeviceError("invalid-arguments", complaint);
		}
		const queue = this.#queueOf(known);
		const timeout = options.timeout ?? this.#options.callTimeout ?? 30_000;
		try {
			return await queue.run((device) => callOnce(device, known, tool, args, { ...options, timeout }), options.signal);
		} finally {
			if (queue.idle) {
				this.#queues.delete(known.id);
			}
		}
	}

	/** Refuses what waits, and what comes. */
	close(): void {
		for (const queue of this.#queues.values()) {
			queue.close(new DeviceError("cancelled", "the gateway is shutting down"));
		}
	}

	#queueOf({ id, alias }: KnownDevice): CallQueue {
		let queue = this.#queues.get(id);
		if (queue === undefined) {
			const { callsPerDevice = 4, callsWaiting = 64, awayWait = 10_000 } = this.#options;
			const awayMessage = (): string => this.#awayMessage(id, alias, awayWait);
			const options = { concurrency: callsPerDevice, capacity: callsWaiting, awayWait, awayMessage };
			queue = new CallQueue(options, this.#devices.get(id)?.device);
			this.#queues.set(id, queue);
		}
		return queue;
	}

	#awayMessage(id: string, alias: string, awayWait: number): string {
		const lastSeen = this.#devices.get(id)?.lastSeen;
		const seen = lastSeen === undefined ? "" : `; it was last seen at ${new Date(lastSeen).toISOString()}`;
		return `${alias} is away and did not come back within ${awayWait / 1000} s${seen}. Nothing was sent to it.`;
	}
}

/** A call that was cut off is not made again: the tool may have done its work. */
async function callOnce(
	device: Device,
	{ alias }: KnownDevice,
	{ name }: DeviceTool,
	args: object,
	options: CallOptions,
): Promise<CallResult> {
	try {
		return await device.callTool(name, args, options);
	} catch (error) {
		if (error instanceof DeviceError && error.code === "device-gone") {
			const message = `${alias} was lost while the call was under way: it may have been carried out, or not`;
			throw new DeviceError("device-gone", message, { cause: error });
		}
		throw error;
	}
}
