import type { Message } from "../engine/engine.js";

/** A service of Node for the firmware. */
export interface Service {
	/** The prefix of its message kinds: "ws" for "ws.open", "ws.write", … */
	readonly prefix: string;
	/** Handles a message of the firmware; `kind` is without the prefix. */
	take(kind: string, args: readonly unknown[], bytes?: Uint8Array): void;
	/** Releases everything, without further messages to the firmware. */
	close(): void;
}

/** Sends a message to the firmware. */
export type Deliver = (message: Message) => void;

/** Handlers of messages by kind: each gets the message's arguments and bytes. */
export type Handlers = Readonly<Record<string, (args: never, bytes: Uint8Array) => void>>;

/** Makes a service of handlers. Messages of other kinds are ignored. */
export function makeService(prefix: string, handlers: Handlers, close = (): void => {}): Service {
	return {
		prefix,
		take: (kind, args, bytes = new Uint8Array(0)) => handlers[kind]?.(args as never, bytes),
		close,
	};
}

/** A connection that the firmware has opened. */
export interface Connection {
	write?(args: readonly unknown[], bytes: Uint8Array): void;
	/** Stops reading until `resume`. Without this method, arriving data is read at once. */
	pause?(): void;
	resume?(): void;
	/** Ends it. A protocol with an orderly end sends first what was written. */
	close(): void;
	destroy(): void;
}

/**
 * Reports an event of a connection to the firmware. "closed" and "error" are final. "message" is not for the firmware: it
 * reports a complete message, which may have been sent in parts.
 */
export type Tell = (kind: string, args?: readonly unknown[], bytes?: Uint8Array) => void;

/** Opens a connection. Throws an Error if Node refuses to send what a chip would send. */
export type Open = (args: readonly unknown[], tell: Tell) => Connection;

/** Serves the firmware's connections over one protocol, by its numbers for them. */
export function openConnections(prefix: string, open: Open, deliver: Deliver): Service {
	const connections = new Map<unknown, Connection>();
	const tell = (id: unknown, kind: string, args: readonly unknown[] = [], bytes?: Uint8Array): void =>
		deliver({ header: [`${prefix}.${kind}`, id, ...args], ...(bytes && { bytes }) });
	const handlers = {
		open([id, ...args]: readonly unknown[]) {
			try {
				const connection = open(args, (kind, ...message) => {
					if (connections.get(id) === connection) {
						tell(id, kind, ...message);
						if (kind === "closed" || kind === "error") {
							connections.delete(id);
						}
					}
				});
				connections.set(id, connection);
			} catch (error) {
				tell(id, "error", [(error as Error).message]);
			}
		},
		write: ([id, ...args]: readonly unknown[], bytes: Uint8Array) => connections.get(id)?.write?.(args, bytes),
		pause: ([id]: readonly unknown[]) => connections.get(id)?.pause?.(),
		resume: ([id]: readonly unknown[]) => connections.get(id)?.resume?.(),
		close([id]: readonly unknown[]) {
			const connection = connections.get(id);
			connections.delete(id);
			connection?.close();
		},
	};
	return makeService(prefix, handlers, () => {
		for (const connection of connections.values()) {
			connection.destroy();
		}
		connections.clear();
	});
}

/** Unacknowledged bytes of the firmware, the default send buffer of an ESP32's TCP stack. */
export const SEND_WINDOW = 5_744;

/** Messages reach the firmware in parts of this size, like TCP segments. */
const PART_BYTES = 1_436;

/** Cuts a message into parts; an empty one is one empty part. */
export function* splitIntoParts(data: Buffer): Generator<[part: Buffer, more: boolean]> {
	let at = 0;
	do {
		const part = data.subarray(at, at + PART_BYTES);
		at += PART_BYTES;
		yield [part, at < data.byteLength];
	} while (at < data.byteLength);
}
