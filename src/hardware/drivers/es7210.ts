import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { SmBusRecord } from "./axp2101.js";

/** Values, from the data sheet of Everest's converter ES7210. The master clock is 256 times the sample rate. */
const START: readonly (readonly [register: number, value: number])[] = deepFreeze([
	[0x00, 0xff], // reset
	[0x00, 0x41], // and ready to start
	[0x01, 0x3f], // all clocks off
	[0x02, 0xc1], // master clock: not divided, doubled, without DLL
	[0x04, 0x01], // word clock: master clock divided by 0x0100
	[0x05, 0x00],
	[0x06, 0x00], // power of the digital part
	[0x07, 0x20], // oversampling
	[0x08, 0x10], // slave
	[0x09, 0x30], // time until ready
	[0x0a, 0x30], // and until powered
	[0x11, 0x60], // output: I2S, 16 bits
	[0x12, 0x00], // two channels
	[0x22, 0x0a], // high-pass filter of the microphones 1 and 2
	[0x23, 0x2a],
	[0x40, 0x43], // power of the analog part
	[0x41, 0x70], // supply of the microphones: 2.87 V
	[0x42, 0x70],
	[0x43, 0x1a], // microphone 1 on, 30 dB
	[0x44, 0x1a], // microphone 2 on, 30 dB
	[0x45, 0x00], // microphones 3 and 4 off
	[0x46, 0x00],
	[0x47, 0x08], // power of the amplifiers 1 and 2
	[0x48, 0x08],
	[0x49, 0xff], // but not of 3 and 4
	[0x4a, 0xff],
	[0x4b, 0x00], // power of the converters 1 and 2
	[0x4c, 0xff], // but not of 3 and 4
	[0x01, 0x14], // clocks of the microphones 1 and 2 on
	[0x00, 0x71], // restart
	[0x00, 0x41],
]);

/**
 * Starts an ES7210, the converter of a board's microphones, as a slave on I2S that follows any sample rate: the left slot has
 * microphone 1, the right slot microphone 2. The chip needs the board's master clock.
 *
 * @param address 0x40 to 0x43
 * @throws Error if the chip does not answer
 */
export default function startEs7210({ io, ...pins }: SmBusRecord, address = 0x40): void {
	const device = new io({ ...pins, address, hz: 100_000 });
	try {
		for (const [register, value] of START) {
			device.writeUint8(register, value);
		}
	} finally {
		device.close();
	}
}
