/** This package's only imports from the firmware's sources. */
export { isObject } from "../../src/text/is-object.js";
