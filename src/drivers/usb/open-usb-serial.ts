import Timer from "timer";
import type { SerialRecord } from "../../hardware/serial.js";
import { esp32Usb } from "./esp32-usb.js";
import { UsbSerial } from "./usb-serial.js";

/** The serial ports that the chip has on its USB pins: one or none. */
export const usbSerials = (): readonly SerialRecord[] =>
	esp32Usb.exists ? [{ io: UsbSerial, usb: esp32Usb, timer: Timer } as unknown as SerialRecord] : [];
