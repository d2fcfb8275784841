import type { Deliver, Service } from "./service.js";

/** A connection that the firmware has opened. */
export interface Connection {
	write?(args: readonly unknown[], bytes: Uint8Array): void;
	/** Stops reading until `resume`. Without it, what comes is read at once. */
	pause?(): void;
	resume?(): void;
	/** Ends it. A protocol with an orderly end sends first what was written. */
	close(): void;
	destroy(): void;
}

/**
 * Tells the firmware of its connection. "closed" and "error" are the last that it hears of it. "message" is not for the
 * firmware: it reports a whole message, which may go in parts.
 */
export type Tell = (kind: string, args?: readonly unknown[], bytes?: Uint8Array) => void;

/** Opens a connection. Throws an Error if Node does not send what a chip sends. */
export type Open = (args: readonly unknown[], tell: Tell) => Connection;

/** The firmware's connections over one protocol, by its numbers for them. */
export class Connections implements Service {
	readonly prefix: string;
	readonly #open: Open;
	readonly #deliver: Deliver;
	readonly #connections = new Map<unknown, Connection>();

	constructor(prefix: string, open: Open, deliver: Deliver) {
		this.prefix = prefix;
		this.#open = open;
		this.#deliver = deliver;
	}

	take(kind: string, [id, ...args]: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const connection = this.#connections.get(id);
		switch (kind) {
			case "open":
				this.#begin(id, args);
				break;
			case "write":
				connection?.write?.(args, bytes);
				break;
			case "pause":
				connection?.pause?.();
				break;
			case "resume":
				connection?.resume?.();
				break;
			case "close":
				this.#connections.delete(id);
				connection?.close();
				break;
		}
	}

	close(): void {
		for (const connection of this.#connections.values()) {
			connection.destroy();
		}
		this.#connections.clear();
	}

	#begin(id: unknown, args: readonly unknown[]): void {
		const tell = (kind: string, args: readonly unknown[] = [], bytes?: Uint8Array): void =>
			this.#deliver({ header: [`${this.prefix}.${kind}`, id, ...args], ...(bytes && { bytes }) });
		try {
			const connection = this.#open(args, (kind, ...message) => {
				if (this.#connections.get(id) === connection) {
					tell(kind, ...message);
					if (kind === "closed" || kind === "error") {
						this.#connections.delete(id);
					}
				}
			});
			this.#connections.set(id, connection);
		} catch (error) {
			tell("error", [(error as Error).message]);
		}
	}
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
