import type { VirtualBoardProfile } from "src/hardware/board-data";

declare global {
	/** The globals that the engine's host provides. */
	function post(header: string, bytes?: ArrayBuffer): void;
	/** The virtual device's options, set by Node before the firmware starts. */
	var hostConfig: {
		readonly config: Readonly<Record<string, unknown>>;
		readonly settings: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;
		readonly macAddress: string;
		/** Why the device starts, as a chip reports it. */
		readonly resetReason?: string;
		readonly board: VirtualBoardProfile;
		readonly firmware: { readonly capacity: number; readonly isOnTrial: boolean };
		/** The levels at pins, set from outside. */
		readonly pins: readonly (readonly [pin: number, level: number | string])[];
		/** Values of chips and sensors by address; null: unplugged. */
		readonly chips: readonly (readonly [address: number | string, values: Readonly<Record<string, number>> | null])[];
	};
	/** The function that receives messages from the host. */
	var onHostMessage: (header: string, bytes?: ArrayBuffer) => void;
}

type Handler = (args: readonly unknown[], bytes: ArrayBuffer | undefined) => void;

const handlers = new Map<string, Handler>();

/** The connections and the like that Node has for the firmware, by their ids. */
const objects = new Map<number, object>();
let lastId = 0;

/**
 * Gives an object an id, until it is {@link forget forgotten}. Node's messages with this id call its methods, named as the
 * messages after their prefix, with the other arguments and the bytes.
 */
export function register(object: object): number {
	lastId += 1;
	objects.set(lastId, object);
	return lastId;
}

export const isRegistered = (id: number): boolean => objects.has(id);

/** @returns whether there was an object with this id */
export const forget = (id: number): boolean => objects.delete(id);

globalThis.onHostMessage = (header, bytes) => {
	const [kind, ...args] = JSON.parse(header) as [string, ...unknown[]];
	const handler = handlers.get(kind);
	if (handler !== undefined) {
		handler(args, bytes);
		return;
	}
	const [id, ...others] = args;
	const object = objects.get(id as number) as Readonly<Record<string, (...args: unknown[]) => void>> | undefined;
	object?.[kind.slice(kind.indexOf(".") + 1)]?.(...others, bytes);
};

export const boot = globalThis.hostConfig;

/** Posts a message to Node. */
export function send(header: readonly unknown[], bytes?: ArrayBuffer | Uint8Array): void {
	post(JSON.stringify(header), bytes && toBuffer(bytes));
}

/** The bytes of a view or a buffer, as a buffer of just them. */
function toBuffer(data: ArrayBuffer | Uint8Array): ArrayBuffer {
	if (data instanceof ArrayBuffer) {
		return data;
	}
	const { buffer, byteOffset, byteLength } = data;
	const whole = byteLength === buffer.byteLength;
	return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}

/** Registers a handler for a kind of messages from Node. */
export function receive(kind: string, handler: Handler): void {
	handlers.set(kind, handler);
}

/** Sends a request to Node; the promise settles with its answer. */
export function call(
	service: string,
	argument?: unknown,
	request?: ArrayBuffer,
): Promise<{ value: unknown; bytes: ArrayBuffer }> {
	return new Promise((resolve, reject) => {
		const id = register({
			answer(value: unknown, error: string | null, bytes = new ArrayBuffer(0)) {
				forget(id);
				if (error === null) {
					resolve({ value, bytes });
				} else {
					reject(new Error(error));
				}
			},
		});
		send(["board.call", id, service, argument], request);
	});
}
