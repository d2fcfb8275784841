import type { Speaker } from "../hardware/hardware.js";
import { openDevice, type SmBusDevice, type SmBusRecord } from "./smbus.js";

const ADDRESS = 0x36;

/** Awinic AW88298, registers of 16 bits, high byte first. */
const SYSTEM_CONTROL = 0x04;
const SYSTEM_CONTROL_2 = 0x05;
const VOLUME = 0x0c;
const BOOST_CONTROL = 0x61;

/** In SYSTEM_CONTROL: I2S on, amplifier and chip powered. */
const POWERED = 0x4040;
/** In SYSTEM_CONTROL_2: no automatic gains, not muted. */
const NO_GAIN_CONTROL = 0x0008;
/** In BOOST_CONTROL: the board has no boost converter at work. */
const BOOST_OFF = 0x0673;
/** In VOLUME, low byte: its value after a reset. */
const VOLUME_LOW_BYTE = 0x64;

/** In VOLUME, high byte: steps of half a decibel below the loudest. The last one, at 127 dB, is silence. */
const SILENCE = 255;

/** The quietest volume that is to be heard is softer than the loudest by so many steps: 48 dB. */
const RANGE = 96;

/** A loudspeaker amplifier on I2S, whose volume is set over I2C. */
export class Aw88298 implements Speaker {
	readonly #device: SmBusDevice;
	#volume = 70;

	constructor(bus: SmBusRecord) {
		this.#device = openDevice(bus, ADDRESS);
		try {
			this.#device.writeUint16(BOOST_CONTROL, BOOST_OFF, true);
			this.#device.writeUint16(SYSTEM_CONTROL_2, NO_GAIN_CONTROL, true);
			this.#device.writeUint16(SYSTEM_CONTROL, POWERED, true);
			this.volume = this.#volume;
		} catch (error) {
			this.#device.close();
			throw error;
		}
	}

	get volume(): number {
		return this.#volume;
	}

	/** 0 is silent; from 1 to 100 the volume rises evenly in decibels. */
	set volume(volume: number) {
		const attenuation = volume === 0 ? SILENCE : Math.round((RANGE * (100 - volume)) / 100);
		this.#device.writeUint16(VOLUME, (attenuation << 8) | VOLUME_LOW_BYTE, true);
		this.#volume = volume;
	}

	close(): void {
		this.#device.close();
	}
}
