/// <reference path="../types/ltr553als.d.ts" />
import LTR553ALS from "embedded:sensor/AmbientLight-Proximity/LTR553ALS";
import Timer from "timer";
import { type LightSensor, lightSensor } from "../drivers/sensor-light.js";
import type { SmBusRecord } from "../drivers/smbus.js";

/** A light sensor Lite-On LTR-553ALS. The SDK's driver tells what the chip counts, which is not yet lux. */
export function openLightSensor(bus: SmBusRecord): LightSensor {
	return lightSensor({ source: new LTR553ALS({ sensor: bus }), unit: "counts", timer: Timer });
}
