/** This package's only imports from the firmware's sources. */
export { FIRMWARE } from "../../../src/core/firmware.js";
export { isObject } from "../../../src/core/text/json.js";
export { DEVICE_EVENTS } from "../../../src/hardware/vocabulary.js";
