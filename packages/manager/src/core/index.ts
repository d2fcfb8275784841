// For programs that add their own transports: the gateway. The manager itself is in ../manager/index.ts.

export * from "../store/store.js";
export { ALIAS, EVERY_DEVICE } from "./aliases.js";
export * from "./asking.js";
export * from "./audio-link.js";
export * from "./connection.js";
export * from "./errors.js";
export { inputSchemaOf } from "./input-schema.js";
export * from "./names.js";
export * from "./offers.js";
export * from "./received.js";
export { ServerRegistry, type ServerRegistryOptions } from "./registry.js";
export * from "./replace-file.js";
export type { Results } from "./results.js";
export * from "./server.js";
export { headerProblem } from "./usable-schema.js";
