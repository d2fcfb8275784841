/** This package's only imports from the firmware's sources. */
export { FIRMWARE } from "../../../src/settings/firmware.js";
export { isObject } from "../../../src/text/is-object.js";
