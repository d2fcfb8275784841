import { httpServer } from "src/platform/http-server";
import { directFeature } from "./mcp-endpoint.js";

/** Serves MCP clients without a backend between: the setting `http`. */
export default directFeature(httpServer);
