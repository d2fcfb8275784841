import { Pin } from "./pins.js";

interface Port {
	/** A pin each; one may be left out. */
	readonly receive?: number;
	readonly transmit?: number;
	readonly baud: number;
	/** The name of its part, in a project with parts. */
	readonly part?: string;
	readonly onReadable?: (count: number) => void;
}

/** Maximum number of unread bytes. Further ones are lost, as on a chip. */
const MAX_WAITING = 1_024;

/** Bytes that are taken at once. */
const ROOM = 128;

/** The pin that sends: each line is shown. */
class Sender extends Pin<string> {
	#line = "";

	write(text: string): void {
		const [first = "", ...lines] = text.split(/\r\n|\r|\n/);
		this.#line += first;
		for (const line of lines) {
			this.show(this.#line);
			this.#line = line;
		}
	}
}

/** Stands in for ECMA-419's `embedded:io/serial` (§10.3): lines are sent to it from outside. */
export default class Serial {
	/** Receives each line that is set from outside. */
	readonly #receiver: Pin<string> | undefined;
	readonly #sender: Sender | undefined;
	#waiting: number[] = [];

	constructor(options: Port) {
		const { receive, transmit, baud, onReadable } = options;
		if (receive === undefined && transmit === undefined) {
			throw new Error("invalid");
		}
		if (!(baud > 0)) {
			throw new RangeError("invalid baud");
		}
		if (receive !== undefined) {
			this.#receiver = new Pin({ ...options, pin: receive }, "receive", "", (line: string) => {
				this.#waiting.push(...new Uint8Array(ArrayBuffer.fromString(`${line}\n`)));
				this.#waiting.splice(MAX_WAITING);
				onReadable?.call(this, this.#waiting.length);
			});
		}
		try {
			this.#sender = transmit === undefined ? undefined : new Sender({ ...options, pin: transmit }, "transmit", "");
		} catch (error) {
			this.#receiver?.close();
			throw error;
		}
	}

	get format(): string {
		return "buffer";
	}

	/** @param count bytes at most. Default: all that wait */
	read(count: number = this.#waiting.length): ArrayBuffer | undefined {
		return this.#waiting.length === 0 ? undefined : Uint8Array.from(this.#waiting.splice(0, count)).buffer;
	}

	write(bytes: ArrayBuffer | Uint8Array): void {
		if (bytes.byteLength > ROOM) {
			throw new Error("output full");
		}
		this.#sender?.write(
			String.fromArrayBuffer(bytes instanceof ArrayBuffer ? bytes : (bytes.slice().buffer as ArrayBuffer)),
		);
	}

	close(): void {
		this.#receiver?.close();
		this.#sender?.close();
	}
}
