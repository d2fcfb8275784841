import { deepFreeze } from "./text/deep-freeze.js";

/** Identity of the running firmware. Builds with mcconfig read it from their image: src/platform/firmware.ts. */
export const FIRMWARE = deepFreeze({ name: "xs-mcp", version: "0.1.0", board: "virtual" });
