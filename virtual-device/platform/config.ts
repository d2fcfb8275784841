import { hostConfig } from "./bridge.js";

/** Stands in for Moddable's `mc/config`. */
export default hostConfig.config;
