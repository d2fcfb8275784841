export { BOARD_PROFILES, type BoardProfile, profileOf, VIRTUAL_BOARD } from "./boards.js";
export { bundle, endBundler, type OwnDevice, readOwnDevice } from "./bundle.js";
export { chooseEngine, type EngineChoice } from "./engine/build-xs.js";
export { type Engine, EngineError, type EngineExit, type HeapLimits, type HeapReport } from "./engine/engine.js";
export { encodeImage } from "./environment.js";
export { macAddressOf, randomMacAddress, VirtualDevice, type VirtualDeviceOptions } from "./virtual-device.js";
