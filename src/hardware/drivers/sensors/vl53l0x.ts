import Timer from "timer";
import { type Bus, busSensor, checkId } from "./sensor-bus.js";

const MODEL = 0xc0;
const MODEL_ID = 0xee;
const INTERRUPT = 0x13;
const RESULT = 0x14;
const SIGNAL_LIMIT = 0x44;
const NVM = 0x83;
const SPADS = 0xb0;

/** Bytes of a result, its status of a valid distance, and the place of the distance in mm. */
const RESULT_BYTES = 12;
const IS_VALID = 11;
const DISTANCE = 10;

/** Maximum distance, also reported if nothing is in range, cm. */
const MAX_DISTANCE = 200;

/** Detectors of the reference, and the first one behind an aperture. */
const SPAD_COUNT = 48;
const FIRST_APERTURE = 12;

/** Maximum number of polls for an answer, 1 ms apart. */
const MAX_LOOKS = 200;

/**
 * Pairs of register and value in hexadecimal, as ST's API (STSW-IMG005) writes them: "89|01" sets bits, "84&ef" clears the others.
 * Register ff selects a page.
 */
const STOP = "ff01 0000 9100 0001 ff00";
const OPEN_PAGE = "8001 ff01 0000";
const CLOSE_PAGE = "0001 ff00 8000";
const OPEN_NVM = "8001 ff01 0000 ff06 83|04";
const READ_NVM = "ff07 8101 8001 946b 8300";
const CLOSE_NVM = "8100 ff06 83&fb ff01";
const SELECT_SPADS = "ff01 4f00 4e2c ff00 b6b4";
const TUNING =
	"ff01 0000 ff00 0900 1000 1100 2401 25ff 7500 ff01 4e2c 4800 3020 ff00 3009 5400 3104 3203 4083 4625 6000 2700 " +
	"5006 5100 5296 5608 5730 6100 6200 6400 6500 66a0 ff01 2232 4714 49ff 4a00 ff00 7a0a 7b00 7821 ff01 2334 4200 " +
	"44ff 4526 4605 4040 0e06 201a 4340 ff00 3403 3544 ff01 3104 4b09 4c05 4d04 ff00 4400 4520 4708 4828 6700 7004 " +
	"7101 72fe 7600 7700 ff01 0d01 ff00 8001 01f8 ff01 8e01 0001 ff00 8000";
/** Interrupt at a new sample, whose pin is active low. */
const INTERRUPTS = "0a04 84&ef";
const CLEAR_INTERRUPT = "0b01";

/** Steps of both calibrations and of measurements, and their start. */
const CALIBRATIONS = ["0101 0041", "0102 0001"];
const MEASURE = "01e8";
const START = "0002";

/** Sets the chip up as ST's API does, calibrates it, and starts to measure. */
const start = (bus: Bus): void => {
	checkId(bus.readUint8(MODEL), MODEL_ID);
	run(bus, `89|01 8800 ${OPEN_PAGE}`);
	const stop = bus.readUint8(0x91);
	// The chip still measures if only the microcontroller has restarted.
	run(bus, `${CLOSE_PAGE} ${STOP} 60|12`);
	// 0.25 million counts a second, with 7 bits behind the point.
	bus.writeUint16(SIGNAL_LIMIT, 0x20, true);
	run(bus, "01ff");
	chooseSpads(bus);
	run(bus, `${TUNING} ${INTERRUPTS} ${CLEAR_INTERRUPT}`);
	for (const calibration of CALIBRATIONS) {
		run(bus, calibration);
		waitFor(bus, isReady);
		run(bus, `${CLEAR_INTERRUPT} 0000`);
	}
	run(bus, `${MEASURE} ${OPEN_PAGE}`);
	bus.writeUint8(0x91, stop);
	run(bus, `${CLOSE_PAGE} ${START}`);
};

/** Enables as many detectors of the reference as the chip's memory says. */
const chooseSpads = (bus: Bus): void => {
	run(bus, `${OPEN_NVM} ${READ_NVM}`);
	waitFor(bus, (each) => each.readUint8(NVM) !== 0);
	bus.writeUint8(NVM, 1);
	const info = bus.readUint8(0x92);
	run(bus, `${CLOSE_NVM} ${CLOSE_PAGE}`);
	const spads = new Uint8Array(bus.readBuffer(SPADS, SPAD_COUNT / 8));
	run(bus, SELECT_SPADS);
	let left = info & 0x7f;
	for (let spad = 0; spad < SPAD_COUNT; spad += 1) {
		const at = spad >> 3;
		const bit = 1 << (spad & 7);
		const byte = spads[at] as number;
		if (left === 0 || (info & 0x80 && spad < FIRST_APERTURE)) {
			spads[at] = byte & ~bit;
		} else if (byte & bit) {
			left -= 1;
		}
	}
	bus.write(Uint8Array.of(SPADS, ...spads));
};

const isReady = (bus: Bus): boolean => (bus.readUint8(INTERRUPT) & 0x07) !== 0;

/** Writes registers, and sets or clears bits. @param steps in the form of {@link STOP} */
const run = (bus: Bus, steps: string): void => {
	for (const step of steps.split(" ")) {
		const [register = 0, value = 0] = [step.slice(0, 2), step.slice(-2)].map((hex) => Number.parseInt(hex, 16));
		const old = step.length > 4 ? bus.readUint8(register) : 0;
		bus.writeUint8(register, step[2] === "&" ? old & value : old | value);
	}
};

/** Waits until the chip is done. @throws Error if it takes too long */
const waitFor = (bus: Bus, isDone: (bus: Bus) => boolean): void => {
	for (let look = 0; !isDone(bus); look += 1) {
		if (look === MAX_LOOKS) {
			throw new Error("the chip does not answer in time");
		}
		Timer.delay(1);
	}
};

/**
 * Driver of ST's VL53L0X, a laser that measures distances up to 2 m, about 30 times a second. Its samples have the distance in cm,
 * 200 if nothing is in range.
 */
export default busSensor({
	address: 0x29,
	start,
	sample(bus) {
		if (!isReady(bus)) {
			return undefined;
		}
		const result = new DataView(bus.readBuffer(RESULT, RESULT_BYTES));
		run(bus, CLEAR_INTERRUPT);
		const isValid = (result.getUint8(0) >> 3) % 16 === IS_VALID;
		return { distance: isValid ? result.getUint16(DISTANCE) / 10 : MAX_DISTANCE };
	},
});
