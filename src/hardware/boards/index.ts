// The boards that are data, by their names.
export * from "./adafruit-seeed.js";
export * from "./bare.js";
export * from "./kits.js";
export * from "./lilygo.js";
export * from "./m5stack-more.js";
export * from "./targets.js";
export * from "./waveshare.js";
