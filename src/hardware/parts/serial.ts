import { utf8Length } from "../../core/text/utf8.js";
import type { SerialOptions as PortOptions, SerialPort, TimerHandle } from "../hardware.js";
import type { SerialLine } from "../kinds/line.js";
import {
	aNumber,
	anything,
	aPin,
	oneOf,
	optional,
	optionFault,
	type Part,
	type PartIo,
	type PartOptions,
	Retried,
} from "./part.js";

export interface SerialOptions extends PartOptions {
	/** The pin that receives: the other device's TX. */
	readonly rx?: number;
	/** The pin that sends: the other device's RX. */
	readonly tx?: number;
	/** Bits in a second: 300 to 921,600. Default 9,600. */
	readonly baud?: number;
	/** The chip's UART: 0 to 2. Default 1; the first one has the log. */
	readonly port?: number;
	/** The end of a line that is sent. Default "\r\n". Lines that arrive may end with either. */
	readonly end?: "\r\n" | "\n" | "\r";
	/** Minimum seconds between two events: 0.1 to 86,400. Default 1. */
	readonly interval?: number;
}

type SerialClass = new (
	options: PortOptions & {
		readonly receive?: number;
		readonly transmit?: number;
		readonly port: number;
		readonly part: string;
	},
) => SerialPort;

/** Maximum bytes of a received line: the rest is dropped. */
const MAX_RECEIVED = 256;

/** Maximum bytes of a sent line, with its end: a chip's port takes as many at once. */
const MAX_SENT = 120;

/** Minimum time between two sent lines, ms. */
const MIN_PAUSE = 100;

const MAX_INTERVAL = 86_400;

const SERIAL = "embedded:io/serial";

/**
 * A device that sends or receives lines of text at a serial port (UART): a GPS, a scale, another controller.
 *
 * @example
 * scale: serial({ rx: 16, tx: 17, baud: 9600 })
 */
export const serial = (options: SerialOptions): Part<"line"> => {
	const { rx, tx, port = 1 } = options;
	return {
		makes: "line",
		uart: port,
		pins: [
			...(rx === undefined ? [] : [{ pin: rx, use: "input" as const }]),
			...(tx === undefined ? [] : [{ pin: tx, use: "output" as const }]),
		],
		loads: [SERIAL],
		fault: optionFault(
			options,
			{
				title: anything,
				rx: optional(aPin),
				tx: optional(aPin),
				baud: optional(aNumber(300, 921_600, "bits in a second")),
				port: optional(oneOf(0, 1, 2)),
				end: optional(oneOf("\r\n", "\n", "\r")),
				interval: optional(aNumber(0.1, MAX_INTERVAL, "seconds")),
			},
			rx === undefined && tx === undefined && "rx: expected a pin that receives, or tx, one that sends",
		),
		open: (io) => new PortLine(options, io),
	};
};

/** A serial port whose bytes are lines. */
class PortLine extends Retried<SerialPort> implements SerialLine {
	onLine: ((text: string) => void) | undefined;
	last: string | undefined;
	private readonly options: SerialOptions;
	/** The bytes of the line that arrives. */
	private bytes: number[] = [];
	/** Runs until the next event is allowed. */
	private pause: TimerHandle | undefined;
	/** Whether a line has arrived since the last event. */
	private isUntold = false;
	private sentAt: number | undefined;

	constructor(options: SerialOptions, io: PartIo) {
		const { rx, tx, baud = 9_600, port = 1, title } = options;
		const open = (): SerialPort => {
			const opened: SerialPort = new (io.load<SerialClass>(SERIAL))({
				...(rx !== undefined && { receive: rx }),
				...(tx !== undefined && { transmit: tx }),
				baud,
				port,
				format: "buffer",
				part: io.name,
				onReadable: (count) => this.arrived(opened.read(count)),
				onWritable: () => {},
			});
			return opened;
		};
		super(io, open, title);
		this.options = options;
	}

	send(text: string): void {
		const { name, ticks } = this.io;
		const { tx, end = "\r\n" } = this.options;
		if (tx === undefined) {
			throw new Error(`${name} only receives`);
		}
		const bytes = utf8Length(text) + end.length;
		if (bytes > MAX_SENT) {
			throw new Error(`text: expected at most ${MAX_SENT - end.length} bytes, got ${bytes - end.length}`);
		}
		if (Array.from(text).some((each) => each < " " || each === "\u007f")) {
			throw new Error("text: expected one line, without control characters");
		}
		const { value } = this;
		if (this.sentAt !== undefined && (ticks() - this.sentAt) >>> 0 < MIN_PAUSE) {
			throw new Error(`${name}: sent too often; try again in ${MIN_PAUSE / 1000} seconds`);
		}
		try {
			value.write(ArrayBuffer.fromString(text + end));
		} catch (error) {
			throw new Error(`${name}: the line before is still being sent: ${(error as Error).message}`);
		}
		this.sentAt = ticks();
	}

	override close(): void {
		this.io.timer.clear(this.pause);
		super.close();
	}

	/** Collects bytes into lines. Empty lines are ignored. */
	private arrived(buffer: ArrayBuffer | undefined): void {
		for (const byte of new Uint8Array(buffer ?? new ArrayBuffer(0))) {
			if ((byte === 10 || byte === 13) && this.bytes.length > 0) {
				this.last = decoded(this.bytes);
				this.bytes = [];
				this.isUntold = true;
				this.tell();
			} else if (this.bytes.length < MAX_RECEIVED && byte >= 32 && byte !== 127) {
				this.bytes.push(byte);
			}
		}
	}

	/** Rate limit: only the newest line of an interval is reported. */
	private tell(): void {
		if (this.isUntold && this.pause === undefined) {
			this.isUntold = false;
			const { interval = 1 } = this.options;
			this.pause = this.io.timer.set(() => {
				this.pause = undefined;
				this.tell();
			}, interval * 1000);
			this.onLine?.(this.last as string);
		}
	}
}

/** Decodes UTF-8; if it is not valid, ASCII with a question mark for each other byte. */
const decoded = (bytes: readonly number[]): string => {
	try {
		return String.fromArrayBuffer(Uint8Array.from(bytes).buffer);
	} catch {
		return String.fromCharCode(...bytes.map((byte) => (byte < 128 ? byte : 63)));
	}
};
