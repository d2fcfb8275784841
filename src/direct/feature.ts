import { httpServer } from "src/platform/http-server";
import { type Direct, type DirectOptions, openDirect } from "./open-direct.js";

/** Serves MCP clients without a backend between: the setting `http`. */
export default (options: DirectOptions): Direct | undefined => openDirect(httpServer, options);
