import { openOnBus, writeRegisters } from "./bus-chip.js";
import { type OpenCodecChip, registerSpeaker } from "./register-speaker.js";

/** Registers, from the data sheet of Everest's codec ES8311: reset, power on as a slave, silence. */
const RESET = "001f 0080 3200";
const VOLUME = 0x32;

/** Source and factor of the chip's clock, 256 times the sample rate: the master clock, or 8 times the bit clock of 16-bit slots. */
const FROM_MASTER = "013f 0200";
const FROM_BIT_CLOCK = "01bf 0218";

/** Values that do not depend on the sample rate. */
const START = [
	"0310 0410", // oversampling of the ADC and of the DAC
	"0500 0603 0700 08ff", // dividers of both, of the bit clock and of the word clock
	"090c 0a0c", // input and output: I2S, 16 bits
	"0d01 0e02 1200", // power of the analog part, of the microphone's amplifier and the ADC, and of the DAC
	"1310", // output for headphones
	"141a 1624 17bf", // analog microphone, 30 dB; gain of the ADC: 24 dB; its volume: 0 dB
	"1b0a 1c6a", // high-pass filter of the ADC, no equalizer, no DC offset
	"3708", // no equalizer of the DAC
].join(" ");

/** Volume of 0 dB. */
const LOUDEST = 0xbf;

/**
 * Opens a loudspeaker and a microphone on an ES8311, which is a slave on I2S and follows any sample rate. The chip is silent until
 * the application sets the stored or the initial volume. Its address is 0x19 on boards that connect the pin CE to the supply.
 * At 8 kHz it needs the master clock: the bit clock is too slow.
 */
const openEs8311: OpenCodecChip = (bus, address = 0x18, hasMasterClock = false, volume) =>
	openOnBus(bus, address, (chip) => {
		writeRegisters(chip, `${RESET} ${hasMasterClock ? FROM_MASTER : FROM_BIT_CLOCK} ${START}`);
		const setVolume = (value: number): void => chip.writeUint8(VOLUME, value);
		return registerSpeaker(setVolume, 0, LOUDEST, volume);
	});

export default openEs8311;
