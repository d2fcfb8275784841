import { deepFreeze } from "../text/deep-freeze.js";

/** The firmware's name and version, as `serverInfo` and `self.get_system_info` tell them. */
export const FIRMWARE = deepFreeze({ name: "xs-mcp", version: "0.2.0" });
