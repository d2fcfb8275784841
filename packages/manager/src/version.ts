import { FIRMWARE } from "xs-mcp-firmware/core/firmware";

/** The default name and version that the manager and the proxy send to servers. */
export const MANAGER_INFO = { name: "xs-mcp-manager", version: FIRMWARE.version };
