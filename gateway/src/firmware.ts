/** What the gateway takes of the firmware's sources: its one door. */
export { isRequestId } from "../../src/mcp_server/json-rpc.js";
export { isObject } from "../../src/text/is-object.js";
export { isNewer, isVersion } from "../../src/text/version.js";
