import { openOnBus, type SmBusRecord, writeRegisters } from "./bus-chip.js";

/** Registers, from the data sheet of Everest's converter ES7210. The master clock is 256 times the sample rate. */
const START = [
	"00ff 0041", // reset, ready to start
	"013f 02c1", // all clocks off; master clock: not divided, doubled, without DLL
	"0401 0500", // word clock: master clock divided by 0x0100
	"0600 0720 0810", // power of the digital part, oversampling, slave
	"0930 0a30", // time until ready, and until powered
	"1160 1200", // output: I2S, 16 bits, two channels
	"220a 232a", // high-pass filter of the microphones 1 and 2
	"4043 4170 4270", // power of the analog part, supply of the microphones: 2.87 V
	"431a 441a 4500 4600", // microphones 1 and 2 on, 30 dB; 3 and 4 off
	"4708 4808 49ff 4aff", // power of the amplifiers 1 and 2, not of 3 and 4
	"4b00 4cff", // power of the converters 1 and 2, not of 3 and 4
	"0114 0071 0041", // clocks of the microphones 1 and 2 on, restart
].join(" ");

/**
 * Starts an ES7210, the converter of a board's microphones, as a slave on I2S that follows any sample rate: the left slot has
 * microphone 1, the right slot microphone 2. The chip needs the board's master clock.
 *
 * @param address 0x40 to 0x43
 * @throws Error if the chip does not answer
 */
export default function startEs7210(bus: SmBusRecord, address = 0x40): void {
	openOnBus(bus, address, (chip) => {
		writeRegisters(chip, START);
		chip.close();
	});
}
