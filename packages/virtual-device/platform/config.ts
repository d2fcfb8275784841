import { boot } from "./bridge.js";

/** Stands in for Moddable's `mc/config`. */
export default boot.config;
