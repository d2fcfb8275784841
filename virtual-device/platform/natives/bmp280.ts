import { type Calibration, compensate } from "./bosch.js";

// Stand in for the functions in C of the SDK's driver of the BMP280: bmp280.c.

const calibrations = new WeakMap<object, Calibration>();

export function xs_bmp280_host_object_constructor(): void {}

export function xs_bmp280_setCalibration(this: object, calibration: Omit<Calibration, "P10">): void {
	calibrations.set(this, { ...calibration, P10: 0 });
}

/** @param temperature, pressure the converter's 20 bits, followed by 4 */
export function xs_bmp280_calculate(this: object, temperature: number, pressure: number): object | undefined {
	const calibration = calibrations.get(this);
	return calibration && compensate(calibration, temperature >> 4, pressure >> 4);
}

export function xs_bmp280_close(this: object): void {
	calibrations.delete(this);
}
