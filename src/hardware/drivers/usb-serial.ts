import type { SerialOptions, SerialPort, TimerHandle, TimerModule } from "../hardware.js";
import type { esp32Usb } from "./esp32-usb.js";

interface UsbSerialOptions extends SerialOptions {
	readonly usb: typeof esp32Usb;
	readonly timer: TimerModule;
}

/** Milliseconds between polls: the controller's driver has no events. */
const POLL_INTERVAL = 50;

/** Bytes that may be written at a time. */
const ROOM = 128;

/** ECMA-419's serial port on the chip's USB Serial/JTAG controller. Without a computer nothing is sent. */
export class UsbSerial implements SerialPort {
	private readonly options: UsbSerialOptions;
	private readonly poll: TimerHandle;
	private received: ArrayBuffer | undefined;
	private waiting = new Uint8Array(0);

	/** @throws Error if the debugger uses the controller */
	constructor(options: UsbSerialOptions) {
		this.options = options;
		options.usb.open();
		this.poll = options.timer.repeat(() => this.check(), POLL_INTERVAL);
	}

	/** Returns all received bytes, which are as many as were announced. */
	read(): ArrayBuffer | undefined {
		const { received } = this;
		this.received = undefined;
		return received;
	}

	write(bytes: ArrayBuffer): void {
		this.waiting = Uint8Array.from([...this.waiting, ...new Uint8Array(bytes)]);
		this.send();
	}

	close(): void {
		this.options.timer.clear(this.poll);
		this.options.usb.close();
	}

	private check(): void {
		const { usb, onReadable, onWritable } = this.options;
		this.received = usb.read();
		if (this.received !== undefined) {
			onReadable(this.received.byteLength);
		}
		this.send();
		if (this.waiting.length === 0) {
			onWritable(ROOM);
		}
	}

	private send(): void {
		if (this.waiting.length > 0) {
			const sent = this.options.usb.write(this.waiting.slice().buffer);
			this.waiting = this.waiting.subarray(sent);
		}
	}
}
