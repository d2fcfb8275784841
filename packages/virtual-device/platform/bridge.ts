import type { VirtualBoardProfile } from "virtual-host";

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

globalThis.onHostMessage = (header, bytes) => {
	const [kind, ...args] = JSON.parse(header) as [string, ...unknown[]];
	handlers.get(kind)?.(args, bytes);
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

interface Pending {
	resolve(reply: { value: unknown; bytes: ArrayBuffer }): void;
	reject(error: Error): void;
}

const pending = new Map<number, Pending>();
let lastCall = 0;

/** Sends a request to Node; the promise settles with its answer. */
export function call(
	service: string,
	argument?: unknown,
	bytes?: ArrayBuffer,
): Promise<{ value: unknown; bytes: ArrayBuffer }> {
	lastCall += 1;
	const id = lastCall;
	send(["board.call", id, service, argument], bytes);
	return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

receive("board.answer", ([id, value, error], bytes) => {
	const call = pending.get(id as number);
	pending.delete(id as number);
	if (typeof error === "string") {
		call?.reject(new Error(error));
	} else {
		call?.resolve({ value, bytes: bytes ?? new ArrayBuffer(0) });
	}
});
