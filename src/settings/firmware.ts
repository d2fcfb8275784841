import { deepFreeze } from "../text/deep-freeze.js";

/** The firmware's name and version, as reported by `serverInfo` and `self.get_system_info`. */
export const FIRMWARE = deepFreeze({ name: "xs-mcp", version: "0.1.0" });
