/// <reference path="../../types/ltr553als.d.ts" />
import LTR553ALS from "embedded:sensor/AmbientLight-Proximity/LTR553ALS";
import Timer from "timer";
import type { SmBusRecord } from "../smbus.js";
import { type LightSensor, lightSensor } from "./sensor-light.js";

/** The light sensor Lite-On LTR-553ALS. The SDK's driver reports raw counts, not lux. */
export function openLightSensor(bus: SmBusRecord): LightSensor {
	return lightSensor({ source: new LTR553ALS({ sensor: bus }), unit: "counts", timer: Timer });
}
