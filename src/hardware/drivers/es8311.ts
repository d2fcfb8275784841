import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { Speaker } from "../sound.js";
import type { SmBusRecord } from "./axp2101.js";

/** Registers, from the data sheet of Everest's codec ES8311. */
const CLOCK_SOURCE = 0x01;
const CLOCK_FACTOR = 0x02;
const VOLUME = 0x32;

/** Source and factor of the chip's clock, 256 times the sample rate: the master clock, or 8 times the bit clock of 16-bit slots. */
const FROM_MASTER = 0x3f;
const FROM_BIT_CLOCK = 0xbf;
const TIMES_1 = 0x00;
const TIMES_8 = 0x18;

/** Values that do not depend on the sample rate. */
const START: readonly (readonly [register: number, value: number])[] = deepFreeze([
	[0x03, 0x10], // oversampling of the ADC
	[0x04, 0x10], // oversampling of the DAC
	[0x05, 0x00], // dividers of both
	[0x06, 0x03], // divider of the bit clock
	[0x07, 0x00], // divider of the word clock, high byte
	[0x08, 0xff], // and low byte
	[0x09, 0x0c], // input: I2S, 16 bits
	[0x0a, 0x0c], // output: I2S, 16 bits
	[0x0d, 0x01], // power of the analog part
	[0x0e, 0x02], // power of the microphone's amplifier and of the ADC
	[0x12, 0x00], // power of the DAC
	[0x13, 0x10], // output for headphones
	[0x14, 0x1a], // analog microphone, 30 dB
	[0x16, 0x24], // gain of the ADC: 24 dB
	[0x17, 0xbf], // volume of the ADC: 0 dB
	[0x1b, 0x0a], // high-pass filter of the ADC
	[0x1c, 0x6a], // no equalizer of the ADC, no DC offset
	[0x37, 0x08], // no equalizer of the DAC
]);

/** Volumes in half decibels: 0 dB, and the range down to the softest audible one, 48 dB. */
const LOUDEST = 0xbf;
const RANGE = 96;

/**
 * Opens a loudspeaker and a microphone on an ES8311, which is a slave on I2S and follows any sample rate. Volume 0 is silent;
 * from 1 to 100 it rises evenly in decibels. The chip is silent until the application sets the stored or the initial volume.
 *
 * @param address 0x19 on boards that connect the pin CE to the supply
 * @param hasMasterClock whether the board connects the chip's master clock. Without it, sound of 8 kHz is too slow for the chip
 * @param current initial volume, in percent
 * @throws Error if the chip does not answer
 */
export default function openEs8311(
	{ io, ...pins }: SmBusRecord,
	address = 0x18,
	hasMasterClock = false,
	current = 70,
): Speaker & { close(): void } {
	const device = new io({ ...pins, address, hz: 100_000 });
	try {
		// Reset, then power on as a slave.
		device.writeUint8(0x00, 0x1f);
		device.writeUint8(0x00, 0x80);
		device.writeUint8(VOLUME, 0);
		device.writeUint8(CLOCK_SOURCE, hasMasterClock ? FROM_MASTER : FROM_BIT_CLOCK);
		device.writeUint8(CLOCK_FACTOR, hasMasterClock ? TIMES_1 : TIMES_8);
		for (const [register, value] of START) {
			device.writeUint8(register, value);
		}
	} catch (error) {
		device.close();
		throw error;
	}
	return {
		get volume() {
			return current;
		},
		set volume(volume) {
			const attenuation = Math.round((RANGE * (100 - volume)) / 100);
			device.writeUint8(VOLUME, volume === 0 ? 0 : LOUDEST - attenuation);
			current = volume;
		},
		close: () => device.close(),
	};
}
