import { deepFreeze } from "../text/deep-freeze.js";

/**
 * Identity of the running firmware: its project and version, as reported by `serverInfo`, `self.get_system_info` and the
 * bootstrap, and the board that it is built for. Builds with mcconfig read it from their image: src/platform/firmware.ts.
 */
export const FIRMWARE = deepFreeze({ name: "xs-mcp", version: "0.1.0", board: "virtual" });
