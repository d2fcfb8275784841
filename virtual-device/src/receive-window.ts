import type { Message } from "./engine/engine.js";

/** Messages delivered to the firmware in one command. */
const MAX_MESSAGES = 10;

/** Bytes delivered in one command: by default as many as a chip's TCP stack holds unread. */
const MAX_BYTES = 5_744;

/**
 * Messages that wait to be handed to the firmware.
 *
 * While the firmware does not read from a connection, its data waits here, as in a chip's TCP stack, outside the
 * engine's heap.
 */
export class ReceiveWindow {
	#messages: Message[] = [];
	/** Connections that the firmware does not read from: "ws.3". */
	readonly #paused = new Set<string>();

	add(message: Message): void {
		this.#messages.push(message);
	}

	/** Records whether the firmware reads from a connection. */
	heed(header: readonly unknown[]): void {
		const [prefix, what] = String(header[0]).split(".", 2);
		if (what === "pause") {
			this.#paused.add(`${prefix}.${header[1]}`);
		} else if (what === "resume" || what === "close") {
			this.#paused.delete(`${prefix}.${header[1]}`);
		}
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
			}
		}
		this.#messages = left;
		return taken;
	}

	/** The end of an HTTP response does not overtake its body. */
	#isHeld({ header }: Message): boolean {
		const [prefix, what] = String(header[0]).split(".", 2);
		const isHoldable = what === "data" || header[0] === "http.closed";
		return isHoldable && this.#paused.has(`${prefix}.${header[1]}`);
	}
}
