import { deepFreeze } from "../../core/text/deep-freeze.js";

/** The USB Serial/JTAG controller of ESP32-C3, C6, S3 and later chips: `esp32-usb.c`, built for an ESP32 only. */
export const esp32Usb = deepFreeze({
	/** @throws Error if the debugger uses it */
	open(): void {
		native("xs_esp32usb_open").call(this);
	},

	close(): void {
		native("xs_esp32usb_close").call(this);
	},

	/** Returns the received bytes, undefined without any. */
	read(): ArrayBuffer | undefined {
		return native("xs_esp32usb_read").call(this) as ArrayBuffer | undefined;
	},

	/** Sends as many of the bytes as fit now. Returns their count. */
	write(bytes: ArrayBuffer): number {
		return native("xs_esp32usb_write").call(this, bytes) as number;
	},
});
