import type { Message } from "./engine/engine.js";

/** Messages delivered to the firmware in one command. */
const MAX_MESSAGES = 10;

/** Bytes delivered in one command: by default as many as a chip's TCP stack holds unread. */
const MAX_BYTES = 5_744;

/** Bytes of one connection that wait here before its socket is paused. */
const MAX_WAITING_BYTES = 65_536;

interface Connection {
	/** The firmware does not read from it. */
	isPaused: boolean;
	waitingBytes: number;
	/** Its socket is paused. */
	isHeld: boolean;
}

/**
 * Messages that wait to be handed to the firmware.
 *
 * While the firmware does not read from a connection, its data waits here, as in a chip's TCP stack, outside the
 * engine's heap. A socket is paused while the firmware does not read, and while too much of its data waits.
 */
export class ReceiveWindow {
	#messages: Message[] = [];
	/** Connections by prefix and id: "ws.3". */
	readonly #connections = new Map<string, Connection>();
	readonly #hold: (prefix: string, kind: "pause" | "resume", id: unknown) => void;

	/** @param hold pauses or resumes the socket of a connection */
	constructor(hold: (prefix: string, kind: "pause" | "resume", id: unknown) => void) {
		this.#hold = hold;
	}

	add(message: Message): void {
		this.#messages.push(message);
		this.#count(message, 1);
	}

	/** Handles a message of the firmware if it says whether the firmware reads from a connection. */
	heed(header: readonly unknown[]): boolean {
		const [prefix = "", what] = String(header[0]).split(".", 2);
		if (what === "pause" || what === "resume") {
			this.#update(prefix, header[1], (connection) => {
				connection.isPaused = what === "pause";
			});
			return true;
		}
		if (what === "close") {
			this.#connections.delete(`${prefix}.${header[1]}`);
		}
		return false;
	}

	/** The messages of the next command, in order; empty if the firmware reads none of the waiting ones. */
	take(): Message[] {
		const taken: Message[] = [];
		const left: Message[] = [];
		let bytes = 0;
		let isFull = false;
		for (const message of this.#messages) {
			const size = message.bytes?.byteLength ?? 0;
			isFull ||= taken.length === MAX_MESSAGES || (bytes > 0 && bytes + size > MAX_BYTES);
			if (isFull || this.#isHeld(message)) {
				left.push(message);
			} else {
				taken.push(message);
				bytes += size;
				this.#count(message, -1);
			}
		}
		this.#messages = left;
		return taken;
	}

	/** The end of an HTTP response does not overtake its body. */
	#isHeld({ header }: Message): boolean {
		const [prefix, what] = String(header[0]).split(".", 2);
		const isHoldable = what === "data" || header[0] === "http.closed";
		return isHoldable && this.#connections.get(`${prefix}.${header[1]}`)?.isPaused === true;
	}

	#count({ header, bytes }: Message, sign: 1 | -1): void {
		const [prefix = "", what] = String(header[0]).split(".", 2);
		if (what === "data") {
			this.#update(prefix, header[1], (connection) => {
				connection.waitingBytes += sign * (bytes?.byteLength ?? 0);
			});
		}
	}

	#update(prefix: string, id: unknown, change: (connection: Connection) => void): void {
		const key = `${prefix}.${id}`;
		const connection = this.#connections.get(key) ?? { isPaused: false, waitingBytes: 0, isHeld: false };
		change(connection);
		const shouldHold = connection.isPaused || connection.waitingBytes > MAX_WAITING_BYTES;
		if (shouldHold !== connection.isHeld) {
			connection.isHeld = shouldHold;
			this.#hold(prefix, shouldHold ? "pause" : "resume", id);
		}
		// Only connections that differ from a new one are kept: those that end by themselves are never closed here.
		if (connection.isPaused || connection.waitingBytes > 0) {
			this.#connections.set(key, connection);
		} else {
			this.#connections.delete(key);
		}
	}
}
