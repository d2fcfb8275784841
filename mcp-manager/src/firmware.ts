/** What this package takes of the firmware's sources: its one door. */
export { isObject } from "../../src/text/is-object.js";
